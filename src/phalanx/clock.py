"""Time as a port: the core is told the time, the shell asks a `Clock`.

Two kinds of time are never mixed. `wall_ns` is for labels that people read; `monotonic_ns` is for
durations inside one process. Ages across processes come from the store's own clock (`store.base`).
"""

from __future__ import annotations

import time
from typing import Protocol

SECOND_NS = 1_000_000_000


class Clock(Protocol):
    """What the shell needs to know of time."""

    def wall_ns(self) -> int:
        """Nanoseconds since 1970-01-01 UTC."""
        ...

    def monotonic_ns(self) -> int:
        """Nanoseconds that only grow, of this process only."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The machine's own clocks."""

    def wall_ns(self) -> int:
        """Nanoseconds since 1970-01-01 UTC."""
        return time.time_ns()

    def monotonic_ns(self) -> int:
        """Nanoseconds that only grow, of this process only."""
        return time.monotonic_ns()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
