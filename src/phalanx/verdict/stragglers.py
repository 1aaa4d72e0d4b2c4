"""Which rank makes the others wait? Compared is each rank's own work in a step. Pure.

A rank is slow when its own work takes longer than the median of the others by a margin that chance
does not explain: a fifth of that median, two milliseconds, five standard errors of the two
medians, and three times the spread among the other ranks, whichever is most.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt

from phalanx.frozen import frozen

FACTOR = 1.2
"""A smaller excess is not worth a word."""
LEAST_NS = 2_000_000
"""Nor is one that a scheduler makes."""
ERRORS = 5.0
"""Standard errors."""
SPREADS = 3.0
"""Times the spread among the other ranks."""

_TO_SIGMA = 1.4826
"""From a median distance to a standard deviation, and from that to a median's error."""
_MEDIAN_ERROR = 1.2533


@frozen
class Work:
    """Own work of one rank in a step, over `steps` of them: the median and the distance from it."""

    rank: int
    slot: int
    steps: int
    own_ns: int
    spread_ns: int = 0


@frozen
class Straggler:
    """A rank that is slow, and by how much."""

    rank: int
    slot: int
    steps: int
    own_ns: int
    others_ns: int
    """Median of the others."""

    @property
    def ratio(self) -> float:
        """Times the median of the others."""
        return self.own_ns / max(1, self.others_ns)

    @property
    def excess_ns(self) -> int:
        """What each step loses by it."""
        return self.own_ns - self.others_ns

    def words(self, *, over: bool = False) -> str:
        """One sentence; `over` speaks of an attempt that has ended."""
        verb, last = ("was", "") if over else ("is", "the last ")
        return (
            f"rank {self.rank} (slot {self.slot}) {verb} slow: {self.ratio:.1f}x the median of "
            f"the others over {last}{self.steps} steps"
        )


def stragglers(works: Sequence[Work]) -> tuple[Straggler, ...]:
    """The slow ranks, slowest first; none while fewer than two are known."""
    known = [work for work in works if work.steps > 0]
    if len(known) < 2:
        return ()
    found = []
    for index, work in enumerate(known):
        others = known[:index] + known[index + 1 :]
        typical_ns = median(other.own_ns for other in others)
        if work.own_ns - typical_ns > _margin_ns(work, others, typical_ns):
            slow = Straggler(work.rank, work.slot, work.steps, work.own_ns, int(typical_ns))
            found.append(slow)
    return tuple(sorted(found, key=lambda slow: (-slow.own_ns, slow.rank)))


def _margin_ns(work: Work, others: Sequence[Work], typical_ns: float) -> float:
    """What chance, or a difference not worth a word, may add to the others' median."""
    apart = median(abs(other.own_ns - typical_ns) for other in others)
    error = sqrt(_error(work) ** 2 + median(_error(other) for other in others) ** 2)
    return max(
        (FACTOR - 1) * typical_ns, float(LEAST_NS), ERRORS * error, SPREADS * _TO_SIGMA * apart
    )


def _error(work: Work) -> float:
    """Standard error of a rank's median."""
    return _MEDIAN_ERROR * _TO_SIGMA * work.spread_ns / sqrt(work.steps)


def median(values: Iterable[float]) -> float:
    """The middle value, or the mean of the two middle ones. `statistics` is slow to import."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
