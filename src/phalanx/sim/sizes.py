"""What must hold of the size of an elastic job: in range, grown at commits only, never flapping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from phalanx import names
from phalanx.clock import SECOND_NS
from phalanx.reconcile.decision import Timing
from phalanx.reconcile.seating import retry_s
from phalanx.state.gang import Head
from phalanx.state.record import Record
from phalanx.words import FailureClass

HOUR_NS = 3600 * SECOND_NS


class Sizes:
    """The sizes of one job over its attempts."""

    def __init__(self, hold: Callable[[bool, str], None], counts: Counter[str]) -> None:
        self.hold = hold
        self.counts = counts
        self.changed_ns: list[int] = []
        self.grown_ns: list[int] = []

    def within(self, record: Record) -> None:
        """Every record: as many take part as the job file allows."""
        size, plan = len(record.active), record.plan
        said = f"{size} nodes, allowed are {plan.fewest} to {plan.nodes}"
        self.hold(plan.fewest <= size <= plan.nodes, said)

    def on_attempt(self, old: Record, new: Record, head: Head | None, timing: Timing) -> None:
        """An attempt opens, perhaps with another size."""
        before, after = len(old.active), len(new.active)
        if after == before:
            self._on_same(old, new)
            return
        now_ns = new.attempt_opened_ns
        self.hold(new.resized_ns == now_ns, "a change of size was not remembered")
        if after > before:
            self._on_growth(old, new, head, timing)
        else:
            self.counts["shrinks"] += 1
        self.changed_ns.append(now_ns)
        self._per_hour(new, timing)

    def _on_same(self, old: Record, new: Record) -> None:
        swapped = [s for s, was in zip(new.seats, old.seats, strict=True) if was.parked > s.parked]
        self.counts["swaps"] += len(swapped)

    def _on_growth(self, old: Record, new: Record, head: Head | None, timing: Timing) -> None:
        self.counts["growths"] += 1
        is_resize = new.history[-1].cause.failure is FailureClass.RESIZED
        self.hold(is_resize, "the job grew after a failure")
        split = names.split_checkpoint_name(head.checkpoint) if head and head.checkpoint else None
        said = f"attempt {old.attempt} grew before it had committed anything"
        self.hold(split is not None and split[1] == old.attempt, said)
        wait_s = old.plan.grow_after_s or timing.grow_floor_s
        since_s = (new.attempt_opened_ns - old.resized_ns) / SECOND_NS
        self.hold(since_s >= wait_s, f"grew {since_s:.0f} s after the last change of size")
        for seat, was in zip(new.seats, old.seats, strict=True):
            if was.parked and not seat.parked:
                out_s = (new.attempt_opened_ns - was.since_ns) / SECOND_NS
                said = f"slot {seat.slot} came back {out_s:.0f} s after fall {was.falls}"
                self.hold(out_s >= retry_s(was.falls), said)
        self.grown_ns.append(new.attempt_opened_ns)

    def _per_hour(self, record: Record, timing: Timing) -> None:
        """Every growth is followed by as many losses as it took in slots, at most."""
        now_ns = self.changed_ns[-1]
        wait_s = record.plan.grow_after_s or timing.grow_floor_s
        growths = sum(now_ns - at <= HOUR_NS for at in self.grown_ns)
        changes = sum(now_ns - at <= HOUR_NS for at in self.changed_ns)
        most = int(3600 / wait_s) + 1
        self.hold(growths <= most, f"{growths} growths within an hour")
        span = record.plan.nodes - record.plan.fewest
        self.hold(changes <= growths * (1 + span) + span, f"{changes} sizes within an hour")
