"""Evidence and logs go when they are older than the job file allows.

Each job says how long (`evidence.keep`), and whoever drives any job of the root looks after all
of them: hourly, and once more when its own job has ended. What a restart or the ledger needs is
never touched: checkpoints, worlds, endings, the record and what the script itself keeps.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from phalanx.clock import SECOND_NS
from phalanx.controller.ports import Ports
from phalanx.errors import StoreError
from phalanx.names import Keys, split_job_id
from phalanx.state import read
from phalanx.state.record import Record
from phalanx.store.store import Store

EVERY_S = 3600.0


class Expiry:
    """Removes what is too old at most every `EVERY_S`, and when the driven job is over."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._due_s = time.monotonic() + EVERY_S
        self._is_done = False

    def maybe(self, record: Record) -> None:
        """One pass over all jobs when it is time. Raises `StoreError` when the root refuses."""
        is_last = record.phase.is_terminal and not self._is_done
        if not is_last and time.monotonic() < self._due_s:
            return
        self._is_done = is_last
        self._due_s = time.monotonic() + EVERY_S
        store = self._ports.store
        for job in store.list("jobs"):
            # What refuses to go in one job is no reason to leave the others alone.
            with contextlib.suppress(StoreError):
                if split_job_id(job) is not None:
                    remove_old(store, job)


def remove_old(store: Store, job: str) -> int:
    """Remove what is too old of one job; the number of objects and folders that went.

    A job whose record cannot be read is left alone. Raises `StoreError` when something cannot go.
    """
    try:
        found = read.read_record(store, Keys(job))
    except (StoreError, ValueError):
        return 0
    if found is None:
        return 0
    old = list(_old(store, found.record, store.now_ns()))
    for key in old:
        store.delete(key)
    return len(old)


def _old(store: Store, record: Record, now_ns: int) -> Iterator[str]:
    """Keys of what nobody may look at any more."""
    keys, keep_ns = Keys(record.job), int(record.plan.evidence_keep_s * SECOND_NS)
    is_over = record.phase.is_terminal and now_ns - (record.ended_ns or now_ns) > keep_ns
    gone = {p.attempt for p in record.history if now_ns - p.ended_ns > keep_ns}
    for folder in (keys.logs, keys.evidence, keys.notices):
        for name in store.list(folder):
            if is_over or attempt_in(name) in gone:
                yield f"{folder}/{name}"
    if is_over:
        tasks = f"{keys.base}/tasks"
        logs = [f"{tasks}/{token}" for token in store.list(tasks)]
        yield from (f"{folder}/agent.log" for folder in logs if "agent.log" in store.list(folder))
        if "controller.log" in store.list(keys.base):
            yield f"{keys.base}/controller.log"


def attempt_in(name: str) -> int | None:
    """The attempt that a log folder, a stack or a notice is of; None for anything else.

    `0.1-3` and `spot-0.1-3` are of attempt 3, as is `stacks-3-00001`.
    """
    parts = name.removesuffix(".outcome").split("-")
    number = parts[1] if parts[0] == "stacks" and len(parts) == 3 else parts[-1]
    return int(number) if len(parts) > 1 and number.isdecimal() else None
