"""The lines of a rank's metrics file, and which of them still count after restarts. Pure.

Each line is one JSON object: a point, `{"step", "attempt", "time", "values"}`, or the mark of an
attempt's beginning, `{"attempt", "time", "resumed_from"}`. A step here is a number of finished
steps, as in `status`, a checkpoint's name and the ledger. An attempt that resumed from step k does
all later steps again: what earlier attempts wrote of them is superseded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from phalanx.frozen import frozen

Values = Mapping[str, "float | None"]
"""Numbers by name; None is one that JSON cannot hold (NaN, infinity)."""


@frozen
class Point:
    """What one rank reported after `step` finished steps."""

    step: int
    attempt: int
    time: str
    """RFC 3339, UTC."""
    values: Values


@frozen
class Resumed:
    """An attempt began with this many steps done."""

    attempt: int
    step: int


@frozen
class Series:
    """The points that count, by step, and how many do not count any more."""

    points: tuple[Point, ...] = ()
    superseded: int = 0


def parse(line: str) -> Point | Resumed | None:
    """One line; None for one that was cut short by a kill or a full disk, or is of a later form."""
    try:
        words = json.loads(line)
        if "resumed_from" in words:
            return Resumed(int(words["attempt"]), int(words["resumed_from"]))
        values = {str(name): _number(value) for name, value in words["values"].items()}
        return Point(int(words["step"]), int(words["attempt"]), str(words["time"]), values)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def point_line(step: int, attempt: int, time: str, values: Values) -> str:
    """A point as it is written, without the line's end."""
    whole = {"step": step, "attempt": attempt, "time": time, "values": dict(values)}
    return json.dumps(whole, separators=(",", ":"), allow_nan=False)


def resumed_line(attempt: int, time: str, step: int) -> str:
    """The mark of an attempt's beginning, without the line's end."""
    return json.dumps(
        {"attempt": attempt, "time": time, "resumed_from": step}, separators=(",", ":")
    )


def series(lines: Iterable[str], resumed: Mapping[int, int] | None = None) -> Series:
    """What survives of a file's lines.

    `resumed` (attempt → step) is what the worlds say, where they can be read: a rank that a later
    attempt does without has no mark of it in its file.
    """
    points: list[Point] = []
    begun = dict(resumed or {})
    for line in lines:
        found = parse(line)
        if isinstance(found, Point):
            points.append(found)
        elif found is not None:
            begun.setdefault(found.attempt, found.step)
    kept: dict[int, Point] = {}
    for point in points:
        if point.step <= _covered(point.attempt, begun):
            kept[point.step] = _newer(kept.get(point.step), point)
    alive = tuple(kept[step] for step in sorted(kept))
    return Series(alive, len({(p.step, p.attempt) for p in points}) - len(alive))


def _covered(attempt: int, begun: Mapping[int, int]) -> float:
    """Up to which step the work of an attempt survived."""
    return min((step for later, step in begun.items() if later > attempt), default=float("inf"))


def _newer(old: Point | None, new: Point) -> Point:
    """The point of the later attempt; two of one attempt are two parts of one."""
    if old is None or new.attempt > old.attempt:
        return new
    if new.attempt < old.attempt:
        return old
    return Point(new.step, new.attempt, new.time, {**old.values, **new.values})


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
