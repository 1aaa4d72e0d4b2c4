"""Cut off from the root: after how long an agent must give up, because its slot may be replaced.

Counted on the agent's own monotonic clock, from the *start* of the last read of the record that
succeeded: what was read may have been old when it arrived.
"""

from __future__ import annotations

import signal

ALARM_FACTOR = 1.1
ALARM_MARGIN_S = 1.0
"""By then an agent whose reads fail, but return, has left in good order."""


class Isolation:
    """When the record was last read, and since when reading fails."""

    def __init__(self, now_s: float) -> None:
        self._good_s = now_s
        self._failing_since_s: float | None = None

    def read_begun_at(self, began_s: float) -> None:
        """A read of the record that began then has succeeded."""
        self._good_s = began_s

    def works(self) -> None:
        """A whole look has succeeded."""
        self._failing_since_s = None

    def fails(self, now_s: float) -> bool:
        """A look failed; whether it is the first of its row."""
        is_first = self._failing_since_s is None
        if self._failing_since_s is None:
            self._failing_since_s = now_s
        return is_first

    def failing_for_s(self, now_s: float) -> float:
        """How long looks have failed in a row."""
        return 0.0 if self._failing_since_s is None else now_s - self._failing_since_s

    def is_over(self, now_s: float, limit_s: float) -> bool:
        """Whether this agent has been without the record for too long."""
        return now_s - self._good_s > limit_s


def set_alarm(limit_s: float) -> None:
    """Have the kernel end this process a little after the limit, unless called again before.

    For reads that never return: a network mount whose server is away blocks whoever touches it.
    The warm parent and the ranks die with the agent (`processes.die_with_parent`).
    """
    signal.setitimer(signal.ITIMER_REAL, ALARM_FACTOR * limit_s + ALARM_MARGIN_S)
