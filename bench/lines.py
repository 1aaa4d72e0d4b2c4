"""What the ranks of a run wrote down. Pure but for one read."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Line:
    """One event of one rank process."""

    kind: str
    pid: int
    step: int
    at_ns: int


def parse(text: str) -> list[Line]:
    """All whole lines; one cut short by a kill is left out."""
    found = []
    for row in text.splitlines():
        words = row.split()
        if len(words) == 5 and words[4] == ".":
            found.append(Line(words[0], int(words[1]), int(words[2]), int(words[3])))
    return found


def read(folder: Path, rank: int) -> list[Line]:
    """The lines of one rank; none before it started."""
    try:
        return parse((folder / f"steps.{rank}").read_text())
    except FileNotFoundError:
        return []


def recovered_ns(ranks: list[list[Line]], old: set[int], kind: str = "step") -> int | None:
    """When the last rank finished its first step in a process that is not one of `old`.

    None while some rank has not. With another `kind`: when the last rank came there.
    """
    firsts = []
    for lines in ranks:
        new = [line.at_ns for line in lines if line.kind == kind and line.pid not in old]
        if not new:
            return None
        firsts.append(new[0])
    return max(firsts)


def step_times_ms(lines: list[Line], skip: int = 1) -> list[float]:
    """Milliseconds between neighbouring steps, without the first `skip`."""
    at = [line.at_ns for line in lines if line.kind == "step"]
    return [(b - a) / 1e6 for a, b in itertools.pairwise(at)][skip:]
