"""Training on Spot that cannot go on where it was."""

from __future__ import annotations

import re

from phalanx.lint.entity import Node
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import trains
from phalanx.lint.values import HOLE
from phalanx.lint.workload import Container, JobFile, Workload
from phalanx.lint.world import World

_OFF = Pattern(
    r"--no[-_](?:resume|save|checkpoint\w*|ckpt)\b|--save[-_]strategy[=\s]+[\"']?no\b"
    r"|--(?:resume|auto[-_]resume|checkpointing)[=\s]+(?:false|0|none|never|no|off)\b",
    re.IGNORECASE,
)
_SIGN = Pattern(r"check[-_]?point|ckpt|resum|snapshot|restor|save|s3://|output", re.IGNORECASE)
_NAME = Pattern(r"^(?:AUTO_)?RESUME(?:_ENABLED)?$|^CHECKPOINT(?:ING|S)?(?:_ENABLED)?$")


@rule(
    id="SPT007",
    slug="spot-training-without-resume",
    severity="warning",
    areas=("spot",),
    on=Workload,
    message="A training on Spot does not resume from a checkpoint",
    why="Spot takes hosts as a matter of course. Without saving and resuming, every interruption "
    "costs the whole run so far, and a long run may never end.",
    fix="Save every 15-30 minutes to S3 or FSx, resume from the last complete checkpoint at start, "
    "and restart on SpotInterruption; else use On-Demand capacity or a Capacity Block.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/container-instance-spot.html",
            "2026-07-10",
        ),
    ),
    guards=("GR6",),
    facts=("TRN-04", "CAP-50"),
)
def spot_training_without_resume(workload: Workload, world: World) -> Found:
    """Switched off by a flag, variable or restart rule: a warning. No sign of it: an info."""
    if not workload.is_spot:
        return
    if isinstance(workload, JobFile):
        yield from _job(workload)
        return
    for container in workload.containers:
        if not (container.is_accelerated and trains(container)):
            continue
        off = _switched_off(container)
        if off:
            yield Hit(off[0], message=f"A training on Spot does not resume: {off[1]}")
        elif not _has_sign(container):
            yield Hit(
                container.command.node,
                message="Nothing says that this training on Spot saves and resumes (unless the "
                "program does so by itself)",
                severity="info",
            )


def _job(job: JobFile) -> Found:
    for rule_ in job.items("restart"):
        if "SpotInterruption" in rule_.texts("on") and rule_.text("do") == "fail":
            yield Hit(rule_, "do", "The job is on Spot, and fails on SpotInterruption")


def _switched_off(container: Container) -> tuple[Node, str] | None:
    match = _OFF.search(container.command.text)
    if match:
        return container.command.node, match[0]
    for variable in container.environment.variables:
        content = (variable.content or "").lower()
        if _NAME.match(variable.key.upper()) and content in ("false", "0", "off", "no", "none"):
            return variable, f"{variable.key}={content}"
    return None


def _has_sign(container: Container) -> bool:
    text = container.command.text
    if HOLE in text or not container.environment.is_known or "$" in text:
        return True
    words = [text]
    words += [f"{v.key}={v.content or HOLE}" for v in container.environment.variables]
    words += [m.text("containerPath") or "" for m in container.items("mountPoints")]
    return bool(_SIGN.search("\n".join(words)))
