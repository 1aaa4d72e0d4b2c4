"""Ask a job to pause or to go on, and wait until it does."""

from __future__ import annotations

from dataclasses import replace

from phalanx.app.act import follow
from phalanx.app.jobs import Job, load
from phalanx.app.revive import Ensure, start_controller
from phalanx.errors import InputError, StoreConflict
from phalanx.names import Keys
from phalanx.state.codec import dumps
from phalanx.state.record import PauseRequest, Record
from phalanx.words import Phase

_TRIES = 50


def request_pause(job: Job, *, reason: str = "") -> Job:
    """Write the request into the record, unless it is there.

    Raises `InputError` for a job that has ended or is being ended, `StoreConflict` when others
    keep replacing the record.
    """
    for _ in range(_TRIES):
        _refuse_ending(job, "nothing of it runs")
        if job.record.pause is not None:
            return job
        pause = PauseRequest(job.root.store.now_ns(), reason)
        job = _swapped(job, replace(job.record, pause=pause))
    raise StoreConflict(f"the record of {job.id} changes too fast", hint="try again")


def request_resume(job: Job) -> Job:
    """Take the request to pause away.

    Raises `InputError` for a job that is not paused, `StoreConflict` as `request_pause`.
    """
    for _ in range(_TRIES):
        _refuse_ending(job, "run its job file again: a new job")
        record = job.record
        if record.pause is None:
            if is_pausing(record):
                return job
            said = f"{job.id} is not paused: it is {record.phase.value}"
            raise InputError(said, hint=f"`phalanx status {job.id}` says more")
        job = _swapped(job, replace(record, pause=None))
    raise StoreConflict(f"the record of {job.id} changes too fast", hint="try again")


def until_paused(
    job: Job, *, timeout_s: float | None = None, ensure: Ensure = start_controller
) -> Job:
    """Wait until the job rests, has ended, or was asked to go on; at most `timeout_s`."""
    return follow(job, timeout_s=timeout_s, ensure=ensure, is_done=_rests)


def until_resumed(
    job: Job, *, timeout_s: float | None = None, ensure: Ensure = start_controller
) -> Job:
    """Wait until the next attempt is open or the job has ended; at most `timeout_s`."""
    return follow(job, timeout_s=timeout_s, ensure=ensure, is_done=lambda r: not is_pausing(r))


def is_pausing(record: Record) -> bool:
    """Whether a job rests or is coming to rest."""
    return record.ending is Phase.PAUSED


def _rests(record: Record) -> bool:
    return record.phase is Phase.PAUSED or record.pause is None


def _refuse_ending(job: Job, hint: str) -> None:
    record = job.record
    if record.phase.is_terminal:
        raise InputError(f"{job.id} has ended: {record.phase.value}", hint=hint)
    if record.stop is not None or record.ending not in (None, Phase.PAUSED):
        raise InputError(f"{job.id} is being ended: {record.message}", hint=hint)


def _swapped(job: Job, record: Record) -> Job:
    job.root.store.swap(Keys(job.id).record, dumps(record), job.version)
    return load(job.root, job.id, job.note)
