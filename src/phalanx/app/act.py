"""Ask a job to stop, and wait for its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from phalanx.app.jobs import REMOVED, Job, load
from phalanx.app.revive import Ensure, revive, start_controller
from phalanx.clock import SECOND_NS, Clock, SystemClock
from phalanx.errors import InputError, StoreConflict, StoreUnavailable
from phalanx.names import Keys
from phalanx.state.codec import dumps
from phalanx.state.record import Record, StopRequest

POLL_S = 0.2
_TRIES = 50


def request_stop(job: Job, *, save: bool = False, reason: str = "") -> Job:
    """Write the request into the record, unless it is there or the job has ended.

    Raises `StoreConflict` when others keep replacing the record.
    """
    for _ in range(_TRIES):
        record = job.record
        asked = record.stop is not None and (record.stop.save or not save)
        if record.phase.is_terminal or asked:
            return job
        at_ns = record.stop.at_ns if record.stop else job.root.store.now_ns()
        stop = StopRequest(at_ns=at_ns, save=save, reason=reason)
        body = dumps(replace(record, stop=stop))
        is_ours = job.root.store.swap(Keys(job.id).record, body, job.version) is not None
        job = again(job)
        if is_ours:
            return job
    raise StoreConflict(f"the record of {job.id} changes too fast", hint="try again")


def follow(
    job: Job,
    see: Callable[[Job], None] = lambda job: None,
    *,
    timeout_s: float | None = None,
    ensure: Ensure = start_controller,
    clock: Clock | None = None,
    is_done: Callable[[Record], bool] = lambda record: False,
) -> Job:
    """Load the job again and again until it has ended or the time is over; returns it as it is.

    `see` is called after every load, `is_done` may end the wait sooner. Raises
    `StoreUnavailable` when the root has gone.
    """
    clock = clock or SystemClock()
    start_ns = next_check_ns = clock.monotonic_ns()
    while True:
        job = again(job)
        see(job)
        now_ns = clock.monotonic_ns()
        late = timeout_s is not None and now_ns - start_ns >= timeout_s * SECOND_NS
        if job.record.phase.is_terminal or late or is_done(job.record):
            return job
        if now_ns >= next_check_ns:
            revive(job, ensure)
            next_check_ns = now_ns + SECOND_NS
        clock.sleep(POLL_S)


def again(job: Job) -> Job:
    """The job as it is now. Raises `StoreUnavailable` when it was removed."""
    try:
        return load(job.root, job.id, job.note)
    except InputError:
        if job.root.store.read(f"{REMOVED}/{job.id}") is not None:
            raise StoreUnavailable(
                f"{job.id} had ended, and somebody removed it meanwhile (`phalanx rm`)",
                hint="nothing of it is left",
            ) from None
        raise StoreUnavailable(
            f"the record of {job.id} has gone from {job.root.folder}",
            hint="somebody removed the root; its tasks stop by themselves",
        ) from None
