"""The metrics file of one rank: a line a step, kept over attempts, for anything that reads JSON.

Lines gather in memory and are written when the progress file reads the metrics too (at most every
half second), before every save and at the end, so that a step that a checkpoint holds has its
line. Numbers on a device are copied there and read only when lines are written.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Mapping
from typing import Any

from phalanx.state.metrics import Values, point_line, resumed_line
from phalanx.train.telling import say

MOST_BYTES = 256 << 20
"""A file as large as this gets only the newest line of each write."""

Waiting = tuple[int, int, Mapping[str, Any]]
"""(step, unix ns, values)."""


class MetricsFile:
    """Appends to the file at `path`; a file that cannot be written is told once, never raised."""

    def __init__(self, path: str, attempt: int) -> None:
        self._path = path
        self._attempt = attempt
        self._waiting: list[Waiting] = []
        self._lines: list[str] = []
        self._has_said = False

    def resumed(self, step: int, wall_ns: int) -> None:
        """This attempt begins with `step` steps done; written before its first point."""
        self._lines.append(resumed_line(self._attempt, rfc3339(wall_ns), step))

    def note(self, step: int, metrics: Mapping[str, Any], wall_ns: int) -> None:
        """Keep what was reported after `step` finished steps. Never waits for a device."""
        if metrics:
            held = {name: _held(value) for name, value in metrics.items()}
            self._waiting.append((step, wall_ns, held))

    def flush(self) -> None:
        """Write what was noted."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        try:
            self._write(waiting)
        except OSError as error:
            if not self._has_said:
                self._has_said = True
                say(f"metrics are not kept: {self._path}: {error.strerror or error}")

    def _write(self, waiting: list[Waiting]) -> None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(os.path.dirname(self._path), 0o700)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        fd = os.open(self._path, flags, 0o600)
        try:
            size = os.fstat(fd).st_size
            lines = self._lines + self._points(waiting if size < MOST_BYTES else waiting[-1:])
            # A line that a kill or a full disk has cut short must not spoil the next one.
            is_torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            text = "".join(f"{line}\n" for line in lines)
            os.write(fd, (("\n" if is_torn else "") + text).encode())
            self._lines = []
        finally:
            os.close(fd)

    def _points(self, waiting: list[Waiting]) -> list[str]:
        found = ((step, at, numbers(held)) for step, at, held in waiting)
        return [
            point_line(step, self._attempt, rfc3339(at), values)
            for step, at, values in found
            if values
        ]


def numbers(metrics: Mapping[str, Any]) -> Values:
    """The metrics that are numbers; one that JSON cannot hold is None. May wait for a device."""
    kept: dict[str, float | None] = {}
    for name, value in metrics.items():
        number = _number(value)
        if number is not None:
            kept[str(name)] = number if math.isfinite(number) else None
    return kept


def _held(value: Any) -> Any:
    """The value as it is now: a number, a copy of one that lies on a device, None for no number."""
    device = getattr(value, "device", None)
    kind = getattr(device, "type", getattr(device, "platform", "cpu"))
    if kind != "cpu":
        if _count(value) != 1:
            return None
        return value.detach().clone() if hasattr(value, "clone") else value
    return _number(value)


def _count(value: Any) -> int:
    """Elements of a tensor."""
    return int(value.numel() if hasattr(value, "numel") else value.size)


def _number(value: Any) -> float | None:
    try:
        return float(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, RuntimeError):
        return None


def rfc3339(wall_ns: int) -> str:
    """UTC with milliseconds: `2026-07-10T09:30:00.250Z`."""
    seconds, rest = divmod(wall_ns, 1_000_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest // 1_000_000:03d}Z"
