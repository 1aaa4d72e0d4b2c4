"""Stacks as Python writes them, taken apart: threads, frames, and where each rank stands. Pure."""

from __future__ import annotations

import re
from typing import Any

from phalanx.agent import stacks

_THREAD = re.compile(r"^(?:Current thread|Thread) 0x", re.MULTILINE)
_FRAME = re.compile(
    r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.+)$', re.MULTILINE
)
_OURS = re.compile(r"phalanx/agent/(rank_main|warm)\.py$|^<frozen runpy>$|/runpy\.py$")
"""What starts every rank: the same everywhere, and nobody's concern."""

_WHY = {
    "gone": "it has just ended",
    "stopped": "it is stopped (SIGSTOP)",
    "deaf": "only ranks of a plain `python ...` command with launcher ranks show their stacks",
    "silent": "it did not answer in time",
}
"""Why a rank shows no stacks, by the state that its slot told."""


def rank_view(slot: int, told: dict[str, Any]) -> dict[str, Any]:
    """One rank of `phalanx.stacks/1`, from what its slot said."""
    text = first_dump(str(told.get("text", "")))
    state = str(told.get("state", ""))
    return {
        "rank": told.get("rank"),
        "slot": slot,
        "pid": told.get("pid"),
        "where": stacks.where(text),
        "because": "" if text else _WHY.get(state, "it shows none"),
        "threads": threads(text),
    }


def is_told(view: dict[str, Any]) -> bool:
    """Whether a rank's view says what it is doing: its stacks, or that it is held."""
    return view["because"] in ("", _WHY["stopped"])


def silence(views: list[dict[str, Any]]) -> str:
    """Why these ranks show nothing, equal reasons together."""
    groups: dict[str, list[int]] = {}
    for view in views:
        groups.setdefault(view["because"], []).append(int(view["rank"]))
    told = [f"rank{'s'[: len(of) > 1]} {ranges(sorted(of))}: {why}" for why, of in groups.items()]
    return "; ".join(told)


def first_dump(text: str) -> str:
    """The first whole answer: somebody else may have asked at the same moment."""
    found = ""
    for piece in _pieces(text):
        found += piece
        if "rank_main.py" in piece:  # the main thread, which comes last
            break
    return found


def _pieces(text: str) -> list[str]:
    starts = [match.start() for match in _THREAD.finditer(text)]
    return [text[a:b] for a, b in zip(starts, [*starts, len(text)][1:], strict=True)]


def threads(text: str) -> list[dict[str, Any]]:
    """Threads of one answer, the main one first; frames are innermost first."""
    main = stacks.main_thread(text).strip()
    found = [{"main": one.strip() == main, "frames": _frames(one)} for one in _pieces(text)]
    return sorted(found, key=lambda thread: not thread["main"])


def _frames(piece: str) -> list[dict[str, Any]]:
    found = [
        {"file": m["file"], "line": int(m["line"]), "function": m["function"]}
        for m in _FRAME.finditer(piece)
    ]
    while found and _OURS.search(str(found[-1]["file"])):
        found.pop()
    return found


def folded(ranks: list[dict[str, Any]]) -> list[tuple[list[int], dict[str, Any]]]:
    """Ranks that show the same, together: (ranks, the first of them), by the first rank."""
    groups: dict[str, tuple[list[int], dict[str, Any]]] = {}
    for one in sorted(ranks, key=lambda rank: int(rank["rank"])):
        key = repr((one["because"], one["threads"]))
        groups.setdefault(key, ([], one))[0].append(int(one["rank"]))
    return list(groups.values())


def ranges(numbers: list[int]) -> str:
    """`0-2, 5` for 0, 1, 2, 5."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)
