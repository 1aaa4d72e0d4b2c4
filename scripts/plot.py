"""A line of points as text: braille dots, a scale on the left, steps below."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bit of each dot of a braille character, by row and column."""


def plot(
    points: Sequence[tuple[float, float]],
    *,
    width: int = 64,
    height: int = 12,
    mark: tuple[float, str] | None = None,
) -> list[str]:
    """Lines of text that show `points` (x, y) with x rising; `mark` names one x below the axis."""
    if not points:
        return ["nothing to draw"]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, right, low, high = min(xs), max(xs), min(ys), max(ys)
    cells = [[0] * width for _ in range(height)]
    last_row: int | None = None
    for x in range(2 * width):
        y = _value_at(points, left + (right - left) * x / (2 * width - 1))
        row = _scaled(high - y, high - low, 4 * height)
        # Joined to the dot before it, so that a steep fall is a line and not a gap.
        for dot in _between(last_row, row):
            cells[dot // 4][x // 2] |= _DOTS[dot % 4][x % 2]
        last_row = row
    lines = []
    for i, row_cells in enumerate(cells):
        label = f"{high - (high - low) * i / max(1, height - 1):8.2f} ┤"
        lines.append(label + "".join(chr(0x2800 + bits) for bits in row_cells).rstrip("\u2800"))
    start, end = f"{left:g}", f"{right:g}"
    axis = [*("─" * width)]
    below = [f"{'':8}  {start}{end:>{width - len(start)}}"]
    if mark is not None and left <= mark[0] <= right:
        column = _scaled(mark[0] - left, right - left, width)
        axis[column] = "▲"
        text = f"{mark[1]:>{column + 1}}" if column > width // 2 else f"{'':{column}}{mark[1]}"
        below.append(f"{'':10}{text}")
    return [*lines, f"{'':8} └{''.join(axis)}", *below]


def _scaled(part: float, whole: float, count: int) -> int:
    return min(count - 1, int(part / whole * count)) if whole > 0 else 0


def _between(before: int | None, now: int) -> range:
    if before is None or abs(before - now) <= 1:
        return range(now, now + 1)
    return range(before + 1, now + 1) if before < now else range(now, before)


def _value_at(points: Sequence[tuple[float, float]], x: float) -> float:
    """Straight lines from point to point."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 <= x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0) if x1 > x0 else y1
    return points[-1][1] if x > points[-1][0] else points[0][1]
