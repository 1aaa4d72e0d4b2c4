"""How many nodes one run spans, as the command or the environment of a container says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from phalanx.lint.pattern import Pattern

if TYPE_CHECKING:
    from phalanx.lint.workload import Container

Span = tuple[int, int]
"""(fewest, most) nodes; they differ for an elastic launch such as `--nnodes=1:4`."""

WORD = r"[=\s]+(\"[^\"]*\"|'[^']*'|[^\s;&|]+)"
"""What follows a flag of a command: its value, quoted or not."""
_FLAG = Pattern(
    r"(?:--(?:nnodes|num[-_]machines|trainer\.num[-_]nodes)|\btrainer\.num_nodes)" + WORD
)
_LAUNCHER = Pattern(r"\b(?:deepspeed|lightning\s+run|fabric\s+run)\b.*?--num[-_]nodes" + WORD)
_NAMES = (
    *("NNODES", "NUM_NODES", "NODE_COUNT", "N_NODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    *("PET_NNODES", "NUM_MACHINES"),
)
_VARIABLE = Pattern(r"\$\{(\w+)(?::?-([\w:]*))?\}|\$(\w+)")
_SPAN = Pattern(r"(?:(\d{1,6}):)?(\d{1,6})")


def span(container: Container) -> Span | None:
    """What the command says, else what the environment says; None where no number is known.

    The command is what the launcher obeys, so it goes first.
    """
    return _of_command(container) or _of_environment(container)


def value_of(word: str, container: Container) -> str:
    """A word of a command with its quotes taken off and its known variables filled in.

    A variable that nothing sets keeps its default (`${NNODES:-2}`); one that is not known stays as
    it is written.
    """

    def one(match: re.Match[str]) -> str:
        name = match[1] or match[3]
        variable = container.environment.get(name)
        if variable is not None:
            return match[0] if variable.content is None else variable.content
        set_here = re.search(
            rf"(?:^|[\s;&])(?:export\s+)?{name}=[\"']?([\d:]+)", container.command.text
        )
        return (set_here[1] if set_here else match[2]) or match[0]

    return _VARIABLE.sub(one, word.strip("\"'"))


def _of_command(container: Container) -> Span | None:
    text = container.command.text
    match = _FLAG.search(text) or _LAUNCHER.search(text)
    return _span(value_of(match[1], container)) if match else None


def _of_environment(container: Container) -> Span | None:
    texts = [container.environment.content(name) or "" for name in _NAMES]
    known = [found for text in texts if (found := _span(text.strip()))]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def _span(text: str) -> Span | None:
    match = _SPAN.fullmatch(text)
    if not match or int(match[2]) == 0:
        return None
    return int(match[1] or match[2]), int(match[2])
