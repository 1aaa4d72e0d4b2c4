"""Models of a public hub without an exact revision."""

from __future__ import annotations

import re

from phalanx.lint.engines import hub_model
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.values import HOLE
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_REVISION = Pattern(r"--(?:code-)?revision[=\s]+[\"']?([\w./-]+)")
_COMMIT = Pattern(r"[0-9a-f]{7,64}")
_TRUST = Pattern(r"--trust[-_]remote[-_]code(?!\s*=?\s*(?:false|0)\b)", re.IGNORECASE)
_NAMES = ("REVISION", "MODEL_REVISION", "HF_REVISION", "HF_MODEL_REVISION")


@rule(
    id="SEC014",
    slug="model-revision-not-pinned",
    severity="warning",
    areas=("security", "serving"),
    on=Container,
    message="A model of a public hub is loaded without an exact revision",
    why="The name alone means the newest commit: what is served can change over night, and with "
    "--trust-remote-code the hub's newest code runs with the task's role.",
    fix="Name the commit (--revision <40 hex digits>), or keep the model in a bucket of yours by "
    "version, with a SHA-256 for every file and safetensors instead of pickle.",
    sources=(
        ("https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock.html", "2026-07-10"),
        ("https://docs.vllm.ai/en/latest/", "undated"),
    ),
    guards=("SB4",),
    facts=("SCY-13", "STO-03"),
)
def model_revision_not_pinned(container: Container, world: World) -> Found:
    """With remote code: a warning (an info in compose files). Without: an info."""
    if container.workload.flavour == "job" or not container.is_accelerated:
        return
    model = hub_model(container)
    text = container.command.text
    if model is None or HOLE in text:
        return
    match = _REVISION.search(text)
    stated = match[1] if match else None
    for name in _NAMES:
        if container.environment.get(name):
            content = container.environment.content(name)
            stated = stated or content or "0000000"
    if stated and (_COMMIT.fullmatch(stated) or HOLE in stated or "$" in stated):
        return
    remote = bool(_TRUST.search(text))
    local = container.workload.flavour == "compose"
    said = "loaded with remote code, without" if remote else "loaded without"
    yield Hit(
        model[0],
        message=f"{model[1]} is {said} an exact revision",
        severity="" if remote and not local else "info",
    )
