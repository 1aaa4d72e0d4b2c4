"""The facts of one incarnation in one attempt, for the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phalanx.agent.progress import Progress
from phalanx.state.gang import LedgerEntry


@dataclass
class Account:
    """One open ledger entry. `*_ns` at start are the store's clock, `opened_ns` is monotonic."""

    slot: int
    incarnation: int
    attempt: int
    start_ns: int
    born_ns: int
    opened_ns: int
    first_step: int = 0
    done_ns: int | None = None
    """Monotonic time at which every rank had exited 0."""

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
        )
