"""The last lines of a rank, also below `torchrun`, which has lines of its own. Pure."""

from __future__ import annotations

import re

from phalanx.torchrun import Summary

LAST_LINES = 8
_RAISED = re.compile(r"(?:\[rank(\d+)\]: ?)?((?:\w+\.)*\w*(?:Error|Exception|Interrupt)\b.*)")
_LAUNCHER = "torch.distributed.elastic"


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
    summary = Summary("\n".join(lines))
    for line in lines:
        summary.see(line)
    if summary.signal:
        return f"rank {summary.root} below torchrun: {summary.signal}"
    raised = [
        (found[1], found[2])
        for line in lines
        if (found := _RAISED.fullmatch(line)) and not found[2].startswith(_LAUNCHER)
    ]
    of_it = [text for of, text in raised if of == summary.root]
    return of_it[-1] if of_it else raised[-1][1] if raised else ""
