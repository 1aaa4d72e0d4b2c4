"""When does a rank that no longer steps count as hung? Pure: it is told the time.

The limit is learned: a multiple of the longest step seen in this task, never under a minute. Until
a few steps of an attempt are done, in an announced phase, and while a save is being written, only
the long start time-out applies, so that a slow first step, an evaluation or a big save is no alarm.
Whoever waits for such a rank is excused with it: its siblings at once, the ranks of other slots by
what the beats say.
"""

from __future__ import annotations

from collections.abc import Sequence

from phalanx.agent.progress import Progress
from phalanx.clock import SECOND_NS
from phalanx.frozen import frozen

SHORTEST_S = 60.0
FACTOR = 10.0
"""Times the longest step seen."""
WARM_UP_STEPS = 3
"""Steps of an attempt before a verdict is possible."""
ASLEEP_S = 5.0
"""Between two looks: after a longer gap the agent itself has been frozen."""


@frozen
class Stall:
    """A rank that has stood still for longer than its limit."""

    local_rank: int
    for_s: float
    limit_s: float
    step: int


class StallWatch:
    """Learns step times over all attempts of one task, and finds ranks that stand still."""

    def __init__(self, after_s: float | None, patience_s: float) -> None:
        """`after_s`: the job's own limit, None to learn it. `patience_s`: when excused."""
        self._after_s = after_s
        self._patience_s = patience_s
        self._longest_s = 0.0
        self._first_step = 0
        self._last: dict[int, Progress] = {}
        self._looked_ns: int | None = None
        self._excused_ns: int | None = None
        """When a rank of ours was last seen to be excused."""
        self._since_ns = 0
        """Standing still before this time does not count."""

    def begin(self, first_step: int) -> None:
        """A new attempt starts from this step."""
        self._first_step = first_step
        self._last = {}
        self._excused_ns = None

    def limit_s(self, reports: Sequence[Progress]) -> float:
        """How long these ranks may stand still now."""
        return self._patience_s if self._excuses(reports) else self._ordinary_s

    def is_excused(self, now_ns: int) -> bool:
        """Whether a rank of ours is excused, or was until less than one limit ago."""
        last_ns = self._excused_ns
        return last_ns is not None and (now_ns - last_ns) / SECOND_NS < self._ordinary_s

    def wait_for_peers(self, now_ns: int) -> None:
        """Ranks elsewhere are excused: the limit starts anew."""
        self._since_ns = now_ns

    @property
    def _ordinary_s(self) -> float:
        if self._after_s is not None:
            return self._after_s
        return max(SHORTEST_S, FACTOR * self._longest_s)

    def _excuses(self, reports: Sequence[Progress]) -> bool:
        settled = self._first_step + WARM_UP_STEPS
        return any(
            report.saving or report.phase != "train" or report.step < settled
            for report in reports
            if report.at_ns and report.phase != "done"
        )

    def look(self, now_ns: int, reports: Sequence[Progress]) -> Stall | None:
        """The rank that has stood still longest beyond its limit, or None."""
        for local_rank, report in enumerate(reports):
            self._learn(local_rank, report)
        limit_s = self.limit_s(reports)
        since_ns = self._counts_since(now_ns, reports)
        found = None
        for local_rank, report in enumerate(reports):
            if report.at_ns == 0 or report.phase == "done":
                continue
            still_s = (now_ns - report.at_ns) / SECOND_NS
            is_over = min(still_s, (now_ns - since_ns) / SECOND_NS) > limit_s
            if is_over and (found is None or still_s > found.for_s):
                found = Stall(local_rank, still_s, limit_s, report.step)
        return found

    def _counts_since(self, now_ns: int, reports: Sequence[Progress]) -> int:
        """Patience counts from the last report; the ordinary limit from the last excuse."""
        looked_ns, self._looked_ns = self._looked_ns, now_ns
        if looked_ns is not None and now_ns - looked_ns > ASLEEP_S * SECOND_NS:
            self._since_ns = now_ns
        if self._excuses(reports):
            self._excused_ns = now_ns
            return 0
        return max(self._since_ns, self._excused_ns or 0)

    def _learn(self, local_rank: int, report: Progress) -> None:
        before = self._last.get(local_rank)
        self._last[local_rank] = report
        if before is None or report.step <= before.step or before.step <= self._first_step:
            return
        if before.phase == "train" and report.phase == "train":
            pace_s = (report.at_ns - before.at_ns) / SECOND_NS / (report.step - before.step)
            self._longest_s = max(self._longest_s, pace_s)
