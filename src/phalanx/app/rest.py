"""Ask a job to pause or to go on, and wait until it does. Others may ask for more meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from phalanx.app.act import again, follow
from phalanx.app.jobs import Job
from phalanx.app.quiet import until_quiet
from phalanx.app.revive import Ensure, start_controller
from phalanx.clock import SECOND_NS, SystemClock
from phalanx.errors import InputError, StoreConflict
from phalanx.names import Keys
from phalanx.state.codec import dumps
from phalanx.state.record import PauseRequest, Record
from phalanx.words import Phase

_TRIES = 50
_NEW_JOB = "run its job file again: a new job"


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
        is_ours, job = _swapped(job, replace(job.record, pause=pause))
        if is_ours:
            return job  # whatever became of the job since
    raise StoreConflict(f"the record of {job.id} changes too fast", hint="try again")


def request_resume(job: Job) -> Job:
    """Take the request to pause away, unless somebody else has done so since `job` was loaded.

    Raises `InputError` for a job that is not paused, `StoreConflict` as `request_pause`.
    """
    was_paused = job.record.pause is not None or is_pausing(job.record)
    for _ in range(_TRIES):
        _refuse_ending(job, _NEW_JOB)
        record = job.record
        if record.pause is None:
            if was_paused:
                return job
            said = f"{job.id} is not paused: it is {record.phase.value}"
            raise InputError(said, hint=f"`phalanx status {job.id}` says more")
        is_ours, job = _swapped(job, replace(record, pause=None))
        if is_ours:
            return job
    raise StoreConflict(f"the record of {job.id} changes too fast", hint="try again")


def until_paused(
    job: Job,
    see: Callable[[Job], None] = lambda job: None,
    *,
    timeout_s: float | None = None,
    ensure: Ensure = start_controller,
) -> Job:
    """Wait until the job rests (or has ended) and its controller is gone, or until it was asked
    to go on; at most `timeout_s`.
    """
    return _then_quiet(job, see, timeout_s, ensure, _rests)


def until_stopped(
    job: Job,
    see: Callable[[Job], None] = lambda job: None,
    *,
    timeout_s: float | None = None,
    ensure: Ensure = start_controller,
) -> Job:
    """Wait until the job has ended and its controller is gone; at most `timeout_s`."""
    return _then_quiet(job, see, timeout_s, ensure, lambda record: False)


def until_resumed(
    job: Job,
    see: Callable[[Job], None] = lambda job: None,
    *,
    timeout_s: float | None = None,
    ensure: Ensure = start_controller,
) -> Job:
    """Wait until the next attempt is open, the job has ended, or was asked to pause again; at
    most `timeout_s`.
    """

    def is_done(record: Record) -> bool:
        return not is_pausing(record) or record.pause is not None

    return follow(job, see, timeout_s=timeout_s, ensure=ensure, is_done=is_done)


def is_pausing(record: Record) -> bool:
    """Whether a job rests or is coming to rest."""
    return record.ending is Phase.PAUSED


def why_not_paused(job: Job) -> str:
    """What became of a request to pause that has not come to rest: its state, what to do."""
    record, is_now = job.record, f"{job.id} is {job.record.phase.value}"
    if record.stop is not None:
        return f"somebody asked {job.id} to stop meanwhile: it ends instead of resting; {is_now}"
    if record.phase.is_terminal:
        return f"{job.id} ended before it could rest; {is_now}"
    if record.pause is None:
        said = f"somebody let {job.id} go on meanwhile, so it does not rest; {is_now}"
        return f"{said}; `phalanx pause {job.id}` asks again"
    return f"{job.id} is still {record.phase.value}; the request to pause stays"


def why_not_resumed(job: Job) -> str:
    """What became of a request to go on before the next attempt was open."""
    record, is_now = job.record, f"{job.id} is {job.record.phase.value}"
    if record.stop is not None:
        said = f"somebody asked {job.id} to stop meanwhile: it does not go on; {is_now}"
        return f"{said}; {_NEW_JOB}"
    if record.phase.is_terminal or record.ending is not Phase.PAUSED:
        return f"{job.id} was ended before it could go on; {is_now}; {_NEW_JOB}"
    if record.pause is not None:
        said = f"somebody asked {job.id} to pause again meanwhile; {is_now}"
        return f"{said}; `phalanx resume {job.id}` lets it go on"
    return f"{job.id} is still {record.phase.value}; the request to go on stays"


def _then_quiet(
    job: Job,
    see: Callable[[Job], None],
    timeout_s: float | None,
    ensure: Ensure,
    is_done: Callable[[Record], bool],
) -> Job:
    clock = SystemClock()
    start_ns = clock.monotonic_ns()
    job = follow(job, see, timeout_s=timeout_s, ensure=ensure, is_done=is_done)
    if timeout_s is not None:
        timeout_s = max(0.0, timeout_s - (clock.monotonic_ns() - start_ns) / SECOND_NS)
    return until_quiet(job, see, timeout_s=timeout_s, ensure=ensure)


def _rests(record: Record) -> bool:
    return record.phase is Phase.PAUSED or record.pause is None


def _refuse_ending(job: Job, hint: str) -> None:
    record = job.record
    if record.phase.is_terminal:
        raise InputError(f"{job.id} has ended: {record.phase.value}", hint=hint)
    if record.stop is not None:
        asked = f" ({record.stop.reason})" if record.stop.reason else ""
        said = f"it is {record.phase.value} and was asked to stop{asked}"
        hint = f"`phalanx wait {job.id}` waits for its end; then {hint}"
        raise InputError(f"{job.id} is being ended: {said}", hint=hint)
    if record.ending not in (None, Phase.PAUSED):
        raise InputError(f"{job.id} is being ended: {record.message}", hint=hint)


def _swapped(job: Job, record: Record) -> tuple[bool, Job]:
    """Whether our record stands, and the job as it is by now."""
    version = job.root.store.swap(Keys(job.id).record, dumps(record), job.version)
    return version is not None, again(job)
