"""Clocks that only go on when somebody sleeps."""

from __future__ import annotations


class SleepingClock:
    """Time passes by sleeping alone."""

    def __init__(self, now_ns: int = 0) -> None:
        self.now_ns = now_ns

    def monotonic_ns(self) -> int:
        return self.now_ns

    def wall_ns(self) -> int:
        return self.now_ns

    def sleep(self, seconds: float) -> None:
        self.now_ns += int(seconds * 1e9)
