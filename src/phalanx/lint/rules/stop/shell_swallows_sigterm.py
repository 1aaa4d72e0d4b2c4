"""A shell as first process that keeps the stop signal for itself."""

from __future__ import annotations

import re

from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_QUOTED = Pattern(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\$\([^()]*\)|`[^`]*`")
_SPLIT = Pattern(r"&&|\|\||[;\n|]|(?<![>&\d])&(?![>&])")
_PIPE = Pattern(r"(?<![|>])\|(?!\|)")
_BACKGROUND = Pattern(r"(?<![>&\d|])&(?![>&\d])")


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
    """Background processes, pipelines, and lists whose last command is not exec; no trap.

    Bash from 5.1 hands over to the last simple command of a list by itself, dash never does: a
    list in bash, and a single command in another shell, are an info.
    """
    script = container.command.script
    if script is None or not container.is_accelerated or container.workload.flavour == "job":
        return
    bare = _QUOTED.sub("''", script)
    parts = [part.strip() for part in _SPLIT.split(bare) if part.strip()]
    parts = [part for part in parts if not part.startswith("#")]
    if re.search(r"\btrap\b", bare) or not parts or parts[-1].startswith("exec "):
        return
    what, severity = _judge(bare, len(parts), "bash" in container.command.words[0])
    if what:
        yield Hit(
            container.command.node,
            message=f"The first process is a shell with {what}: SIGTERM stays with it",
            severity=severity,
        )


def _judge(bare: str, parts: int, is_bash: bool) -> tuple[str, str]:
    """(what is wrong, severity)."""
    if _BACKGROUND.search(bare):
        return "background processes", ""
    if _PIPE.search(bare):
        return "a pipeline", ""
    if parts > 1:
        return "several commands and no exec", "info" if is_bash else ""
    return ("", "") if is_bash else ("a command without exec (unless it execs by itself)", "info")
