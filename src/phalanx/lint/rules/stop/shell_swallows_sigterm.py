"""A shell as first process that keeps the stop signal for itself."""

from __future__ import annotations

import re

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\$\([^()]*\)|`[^`]*`")
_SPLIT = re.compile(r"&&|\|\||[;\n|]|(?<![>&\d])&(?![>&])")
_BACKGROUND = re.compile(r"(?<![>&\d|])&(?![>&\d])")


@rule(
    id="STP002",
    slug="shell-swallows-sigterm",
    severity="warning",
    areas=("stop",),
    on=Container,
    message="The stop signal reaches the shell, not the program that should save",
    why="SIGTERM goes to the first process. A shell with children does not pass it on, and "
    "initProcessEnabled only puts an init before the shell: it does not reach grandchildren. The "
    "program is killed without having saved.",
    fix="Run one program per container and hand over with exec, or set a trap that forwards the "
    "signal and waits for the children.",
    sources=(
        ("https://aws.amazon.com/blogs/containers/graceful-shutdowns-with-ecs/", "undated"),
        ("https://github.com/aws/sagemaker-training-toolkit/issues/173", "undated"),
    ),
    facts=("TRN-71", "TRN-67"),
)
def shell_swallows_sigterm(container: Container, world: World) -> Found:
    """Scripts of more than one command whose last one is not exec, without a trap."""
    script = container.command.script
    if script is None or not container.is_accelerated or container.workload.flavour == "job":
        return
    bare = _QUOTED.sub("''", script)
    parts = [part.strip() for part in _SPLIT.split(bare) if part.strip()]
    parts = [part for part in parts if not part.startswith("#")]
    if re.search(r"\btrap\b", bare) or len(parts) < 2:
        return
    if parts[-1].startswith("exec ") and not _BACKGROUND.search(bare):
        return
    what = "background processes" if _BACKGROUND.search(bare) else "several commands"
    yield Hit(
        container.command.node,
        message=f"The first process is a shell with {what}: SIGTERM stays with it",
    )
