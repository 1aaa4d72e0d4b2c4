"""The progress file: how far this rank is, for its agent. One write a step, no system call more.

The file always has 4096 bytes, one JSON object padded with spaces, replaced by one write. Metrics
may be tensors on a device: they are turned into numbers at most every half second, because that
waits for the device.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from phalanx.clock import SECOND_NS

SIZE = 4096
METRICS_EVERY_NS = SECOND_NS // 2

_METRICS_MAX = 3000


class Progress:
    """Counters of one rank; `show` writes them to the file at `path` ('' writes nowhere).

    Times are monotonic nanoseconds.
    """

    def __init__(self, path: str, total: int | None) -> None:
        self.total = total
        self.step = 0
        self.phase = "start"
        self.first_ns = 0
        self.train_ns = 0
        self.stall_ns = 0
        self.saving = False
        self.pace = ""
        """JSON of the rank's `Pace`, once there is one."""
        self._metrics = "{}"
        self._metrics_ns: int | None = None
        self._shown_ns = 0
        self._fd = -1
        if path:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._fd = os.open(path, flags, 0o600)

    def note(self, metrics: Mapping[str, Any], now_ns: int, must: bool = False) -> bool:
        """Keep the metrics' values, when the last ones are old enough or they `must` be.

        Returns whether they were read, which waits for their device.
        """
        last = self._metrics_ns
        if not metrics or (not must and last is not None and now_ns - last < METRICS_EVERY_NS):
            return False
        self._metrics_ns = now_ns
        self._metrics = _text(metrics)
        return True

    def written(self) -> None:
        """A background write has ended: say so without claiming a new step."""
        self.saving = False
        self.show(self._shown_ns)

    def show(self, now_ns: int) -> None:
        """Write the file. A folder that is gone is not the script's trouble."""
        self._shown_ns = now_ns
        total = "null" if self.total is None else self.total
        pace = f'"pace":{self.pace},' if self.pace else ""
        text = (
            f'{{"step":{self.step},"total":{total},"phase":{json.dumps(self.phase)},'
            f'"metrics":{self._metrics},"first_ns":{self.first_ns},"train_ns":{self.train_ns},'
            f'"stall_ns":{self.stall_ns},"saving":{"true" if self.saving else "false"},'
            f'{pace}"at_ns":{now_ns}}}'
        )
        if self._fd >= 0:
            try:
                os.pwrite(self._fd, text.encode().ljust(SIZE), 0)
            except OSError:
                self._fd = -1


def _text(metrics: Mapping[str, Any]) -> str:
    """JSON of the metrics that are numbers, as many as fit."""
    kept: dict[str, float] = {}
    size = 2
    for name, value in metrics.items():
        try:
            number = float(value.item() if hasattr(value, "item") else value)
        except (TypeError, ValueError, RuntimeError):
            continue
        size += len(json.dumps(name)) + len(repr(number)) + 2
        if size > _METRICS_MAX:
            break
        kept[name] = number
    return json.dumps(kept, separators=(",", ":"))
