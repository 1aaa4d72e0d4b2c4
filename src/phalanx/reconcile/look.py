"""One pass's inputs, sorted once, and the few questions that several policies ask."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from phalanx.clock import SECOND_NS
from phalanx.reconcile.buckets import Buckets, sort_tasks
from phalanx.reconcile.decision import Action, Decision, Event, Timing
from phalanx.state.gang import End
from phalanx.state.observed import Observed
from phalanx.state.record import Record
from phalanx.words import Outcome, Phase


@dataclass(frozen=True)
class Look:
    """What a policy may look at. Frozen: a policy answers with a `Decision` or None."""

    record: Record
    observed: Observed
    now_ns: int
    timing: Timing

    @cached_property
    def buckets(self) -> Buckets:
        """The observed tasks by meaning."""
        return sort_tasks(self.record, self.observed, self.now_ns, self.timing)

    @cached_property
    def ends(self) -> tuple[End, ...]:
        """Ends of the current attempt by those that take part, in the order of slots."""
        seated = {(s.slot, s.incarnation) for s in self.record.active}
        mine = [
            e
            for e in self.observed.ends
            if e.attempt == self.record.attempt and (e.slot, e.incarnation) in seated
        ]
        return tuple(sorted(mine, key=lambda e: e.slot))

    @cached_property
    def done_slots(self) -> frozenset[int]:
        """Slots whose ranks all exited 0 in this attempt."""
        return frozenset(e.slot for e in self.ends if e.outcome is Outcome.SUCCEEDED)

    def age_s(self, since_ns: int) -> float:
        """Seconds since a store time; never negative."""
        return max(0, self.now_ns - since_ns) / SECOND_NS

    def wait(self, reason: str, message: str, recheck_s: float | None = None) -> Decision:
        """Change nothing but the words that people read."""
        record = self.record
        if (record.reason, record.message) != (reason, message):
            record = replace(record, reason=reason, message=message, since_ns=self.now_ns)
        recheck = self.timing.recheck_s if recheck_s is None else recheck_s
        return Decision(record, reason, message, recheck_after_s=recheck)

    def change(
        self, record: Record, reason: str, message: str, *, actions: tuple[Action, ...] = ()
    ) -> Decision:
        """A new record, its reason told as an event; looked at again at once."""
        record = replace(record, reason=reason, message=message, since_ns=self.now_ns)
        return Decision(
            record, reason, message, actions, (Event(reason, message),), recheck_after_s=0.0
        )

    def end_job(self, ending: Phase, record: Record, reason: str, message: str) -> Decision:
        """Start to bring the job down; the phase turns terminal once nothing lives."""
        record = replace(record, phase=Phase.STOPPING, ending=ending, ending_since_ns=self.now_ns)
        return self.change(record, reason, message)
