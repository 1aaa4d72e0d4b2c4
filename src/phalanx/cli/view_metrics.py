"""Text of `phalanx metrics`, made from the object that `--json` prints."""

from __future__ import annotations

from collections.abc import Sequence

from phalanx.cli.view import View, number, table

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 40
"""Most bars of a line."""


def metrics(view: View, *, by_step: bool = False) -> str:
    """A summary of each metric, or the steps of one."""
    if not view["points"]:
        return f"{view['job']}: no metrics were reported yet"
    rows = _steps(view) if by_step else _summary(view)
    return f"{_head(view)}\n{table(rows)}"


def _head(view: View) -> str:
    points, again = view["points"], view["superseded"]
    span = f"steps {points[0]['step']} to {points[-1]['step']}"
    text = f"{view['job']} rank {view['rank']}: {len(points)} points, {span}"
    return f"{text}, {again} superseded by steps done again" if again else text


def _summary(view: View) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("METRIC", "FIRST", "LAST", "LEAST", "MOST", "COURSE")]
    for name in view["names"]:
        values = [p["values"][name] for p in view["points"] if name in p["values"]]
        known = [value for value in values if value is not None]
        if values:
            least, most = (min(known), max(known)) if known else (None, None)
            numbers = (number(values[0]), number(values[-1]), number(least), number(most))
            rows.append((name, *numbers, course(known)))
    return rows


def _steps(view: View) -> list[tuple[str, ...]]:
    (name,) = view["names"]
    rows: list[tuple[str, ...]] = [("STEP", "ATTEMPT", "AT", name.upper())]
    rows += [
        (str(p["step"]), str(p["attempt"]), p["at"], number(p["values"][name]))
        for p in view["points"]
    ]
    return rows


def course(values: Sequence[float]) -> str:
    """The values as bars, each the mean of as many as fall on it."""
    if not values:
        return ""
    count = min(WIDTH, len(values))
    edges = [i * len(values) // count for i in range(count + 1)]
    parts = [values[edges[i] : edges[i + 1]] for i in range(count)]
    means = [sum(part) / len(part) for part in parts]
    low, span = min(means), max(means) - min(means)
    top = len(BARS) - 1
    return "".join(BARS[round((mean - low) / span * top) if span else 0] for mean in means)
