"""Old checkpoints go, a little at a time, beside the ticks."""

from __future__ import annotations

import time

from phalanx.checkpoint.prune import Pruned, Rules, prune
from phalanx.clock import SECOND_NS
from phalanx.controller.ports import Ports
from phalanx.names import Keys
from phalanx.state import read
from phalanx.state.record import Record
from phalanx.store.store import Store

EVERY_S = 5.0


class Pruning:
    """Prunes at most every `EVERY_S`, and once more when nothing of the job lives."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._due_s = time.monotonic() + EVERY_S

    def maybe(self, record: Record) -> Pruned | None:
        """One pass when it is time. Raises `StoreError` when the root refuses."""
        is_over = record.phase.is_terminal
        if not is_over and time.monotonic() < self._due_s:
            return None
        self._due_s = time.monotonic() + EVERY_S
        # Once nothing lives there is nobody who could still be reading.
        wait_s = 0.0 if is_over else self._ports.timing.prune_wait_s
        rules = Rules(keep=record.plan.checkpoint.keep, wait_ns=int(wait_s * SECOND_NS))
        named = named_by(self._ports.store, record)
        pruned = prune(self._ports.store, self._ports.keys, rules, named)
        if is_over and pruned.retired:
            prune(self._ports.store, self._ports.keys, rules, named)
        return pruned


def named_by(store: Store, record: Record) -> set[str]:
    """What the last worlds of a job name: a restore of either may be under way."""
    attempts = range(max(0, record.attempt - 1), record.attempt + 1)
    worlds = [read.read_world(store, Keys(record.job), attempt) for attempt in attempts]
    named = {w.checkpoint for w in worlds if w is not None and w.checkpoint is not None}
    return named | ({record.head_at_open} if record.head_at_open is not None else set())
