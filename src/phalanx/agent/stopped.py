"""Processes that somebody stopped (SIGSTOP) and did not let go on: the kernel is witness enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable

STOPPED_S = 10.0
"""A process that is stopped this long counts as hung, whatever its rank last announced."""


class StoppedWatch:
    """Remembers since when each process has been seen stopped."""

    def __init__(self, is_stopped: Callable[[int], bool]) -> None:
        self._is_stopped = is_stopped
        self._since: dict[int, float] = {}

    def look(self, now_s: float, pids: Iterable[int]) -> int | None:
        """A process that has been stopped for longer than `STOPPED_S`, or None."""
        stopped = [pid for pid in pids if pid and self._is_stopped(pid)]
        self._since = {pid: self._since.get(pid, now_s) for pid in stopped}
        for pid, since_s in self._since.items():
            if now_s - since_s > STOPPED_S:
                return pid
        return None
