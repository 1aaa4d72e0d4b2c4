"""When a save is due. Pure: it is told the time.

Young's formula gives the time between saves that loses least: sqrt(2 x stall x M), with the stall
as measured and M the mean time between losses of the gang. M is not known in advance; a quarter
of an hour too long or too short costs little near the optimum, so a fixed M serves.
"""

from __future__ import annotations

import math

from phalanx.clock import SECOND_NS
from phalanx.train.environment import Every

MEAN_TIME_BETWEEN_LOSSES_S = 4 * 3600.0
"""Assumed for `auto`: Spot gangs of a few hosts lose a member every few hours."""
FIRST_S = 30.0
"""`auto` saves for the first time this long after the first finished step."""
SHORTEST_S = 5.0
"""`auto` never saves more often."""
WRITE_SHARE = 0.1
"""`auto` spends at most this share of the time writing."""
STEPS_WITHOUT_AGREEMENT = 100
"""Steps between saves where ranks cannot agree on a time."""


class Schedule:
    """Due by count (equal on all ranks by itself) or by time (this rank's wish)."""

    def __init__(self, every: Every) -> None:
        self._every = every
        self._interval_s = FIRST_S if every.seconds is None else every.seconds
        self._since_ns: int | None = None

    def count_only(self) -> None:
        """The ranks cannot agree on a time: fall back to counting steps."""
        if self._every.steps is None:
            self._every = Every(steps=STEPS_WITHOUT_AGREEMENT)

    def by_count(self, done: int) -> bool:
        """Whether a save is due because `done` steps are done."""
        return self._every.steps is not None and done % self._every.steps == 0

    def by_time(self, now_ns: int) -> bool:
        """Whether this rank wishes a save now. The first call starts the clock."""
        if self._every.steps is not None:
            return False
        if self._since_ns is None:
            self._since_ns = now_ns
        return now_ns - self._since_ns >= self._interval_s * SECOND_NS

    def saved(self, now_ns: int, stall_ns: int, write_ns: int) -> None:
        """A save began at `now_ns`; `stall_ns` as measured, `write_ns` of the one before or 0."""
        self._since_ns = now_ns
        if self._every.seconds is None:
            stall_s, write_s = stall_ns / SECOND_NS, write_ns / SECOND_NS
            young_s = math.sqrt(2 * stall_s * MEAN_TIME_BETWEEN_LOSSES_S)
            self._interval_s = max(SHORTEST_S, young_s, write_s / WRITE_SHARE)
