"""Stacks for people: ranks that do the same are told once."""

from __future__ import annotations

import re
from typing import Any

from phalanx.app.stacks import folded, ranges

View = dict[str, Any]

_SOURCE = re.compile(r"^.*/jobs/[^/]+/source/(?:[0-9a-f]{64}/)?")
_LIBRARY = re.compile(r"^.*/(?:site-packages|lib/python3[^/]*)/")


def stacks(view: View) -> str:
    """`ranks 0-2: train.py:41 in <module>`, then the frames of each thread, innermost first."""
    lines = []
    for ranks, one in folded(view["ranks"]):
        lines += _group(ranks, one)
    lines += [f"slot {item['slot']}: {item['because']}" for item in view["missing"]]
    return "\n".join(lines)


def _group(ranks: list[int], one: View) -> list[str]:
    name = f"rank {ranks[0]} (pid {one['pid']})" if len(ranks) == 1 else f"ranks {ranges(ranks)}"
    is_empty = not any(thread["frames"] for thread in one["threads"])
    says = "before or after its script" if is_empty else "in library code"
    lines = [f"{name}: {one['because'] or one['where'] or says}"]
    for thread in one["threads"]:
        lines.append("  main thread" if thread["main"] else "  another thread")
        lines += [f"    {_frame(frame)}" for frame in thread["frames"]]
    return lines


def _frame(frame: View) -> str:
    """`step  train.py:41`: the job's own files and libraries by their short names."""
    name = _LIBRARY.sub("", _SOURCE.sub("", frame["file"]))
    return f"{frame['function']}  {name}:{frame['line']}"
