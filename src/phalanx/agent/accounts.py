"""The facts of one incarnation in one attempt, for the ledger."""

from __future__ import annotations

import time
from collections.abc import Sequence

from phalanx.agent.progress import Progress
from phalanx.state.gang import LedgerEntry


class Account:
    """One open ledger entry. `start_ns` and `born_ns` are the store's clock, the rest monotonic."""

    def __init__(self, seat: tuple[int, int, int], *, start_ns: int, born_ns: int) -> None:
        """`seat` is (slot, incarnation, attempt)."""
        self.slot, self.incarnation, self.attempt = seat
        self.start_ns = start_ns
        self.born_ns = born_ns
        self.opened_ns = time.monotonic_ns()
        self.first_step = 0
        self.done_ns: int | None = None
        """Time at which every rank had exited 0."""

    def entry(self, now_ns: int, ranks: Sequence[Progress], *, end_ns: int = 0) -> LedgerEntry:
        """The entry as it stands at monotonic time `now_ns`."""
        slowest = min(ranks, key=lambda p: p.step, default=Progress())
        total_ns = now_ns - self.opened_ns
        firsts = [p.first_ns for p in ranks]
        started = bool(firsts) and all(firsts)
        restart_ns = max(0, max(firsts) - self.opened_ns) if started else total_ns
        idle_ns = now_ns - self.done_ns if self.done_ns is not None else 0
        return LedgerEntry(
            slot=self.slot,
            incarnation=self.incarnation,
            attempt=self.attempt,
            start_ns=self.start_ns,
            total_ns=total_ns,
            restart_ns=restart_ns,
            stall_ns=slowest.stall_ns,
            first_step=self.first_step,
            last_step=max(self.first_step, slowest.step),
            train_ns=slowest.train_ns,
            idle_ns=idle_ns,
            end_ns=end_ns,
            born_ns=self.born_ns,
            paces=tuple(p.pace for p in ranks if p.pace is not None),
        )
