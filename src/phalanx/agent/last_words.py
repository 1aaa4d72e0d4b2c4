"""The last lines of a rank, also below `torchrun`, which has lines of its own. Pure."""

from __future__ import annotations

import re

LAST_LINES = 8
_RAISED = re.compile(r"(?:\[rank(\d+)\]: ?)?((?:\w+\.)*\w*(?:Error|Exception|Interrupt)\b.*)")
_LAUNCHER = "torch.distributed.elastic"
_ROOT_CAUSE = "Root Cause (first observed failure):"
_FIELD = re.compile(r"\s*(rank|exitcode|traceback)\s*: (.*)")


def last_lines(tail: bytes) -> str:
    """The last lines that are not empty, and after them the cause that a launcher's lines hide."""
    lines = [line for line in tail.decode(errors="replace").splitlines() if line.strip()]
    said = _below_the_launcher(lines)
    return "\n".join([*lines[-LAST_LINES:], *([said] if said else [])])


def _below_the_launcher(lines: list[str]) -> str:
    """What ended the first rank that failed below `torchrun`: a signal, or its exception.

    Where a signal did, the exceptions are those of the other ranks, which lost their peer.
    """
    if not any(line.startswith(_LAUNCHER) for line in lines):
        return ""
    root = _root_cause(lines)
    rank = root.get("rank", "").partition(" ")[0]
    if root.get("exitcode", "").startswith("-") and root.get("traceback"):
        return f"rank {rank} below torchrun: {root['traceback']}"
    raised = [
        (found[1], found[2])
        for line in lines
        if (found := _RAISED.fullmatch(line)) and not found[2].startswith(_LAUNCHER)
    ]
    of_it = [text for of, text in raised if of == rank]
    return of_it[-1] if of_it else raised[-1][1] if raised else ""


def _root_cause(lines: list[str]) -> dict[str, str]:
    """The fields of the table in which torchrun names the failure it saw first."""
    if _ROOT_CAUSE not in lines:
        return {}
    at = len(lines) - lines[::-1].index(_ROOT_CAUSE)
    fields = (_FIELD.match(line) for line in lines[at : at + LAST_LINES])
    return {found[1]: found[2] for found in fields if found}
