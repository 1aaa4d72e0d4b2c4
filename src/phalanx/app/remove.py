"""Remove jobs that have ended: whole or not at all, and never what somebody else still needs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from phalanx.app.act import again
from phalanx.app.jobs import REMOVED, Job, find_job, job_ids, load
from phalanx.app.revive import Ensure, start_controller
from phalanx.app.root import Root
from phalanx.app.times import rfc3339
from phalanx.app.views import View
from phalanx.clock import SECOND_NS, Clock, SystemClock
from phalanx.errors import CheckpointUnreadable, InputError, StoreError
from phalanx.names import Keys, split_job_id

SETTLE_S = 20.0
"""How long rests of a job that has just ended are waited for; then again its last messages."""
PATIENCE_S = 1.0
"""A wait as long as that is told."""
POLL_S = 0.1
_RETURNS = 3
"""How often a folder that somebody made anew is removed again."""
_SUBMIT_NS = 24 * 3600 * SECOND_NS
"""A submit that has claimed its origin and written no record for so long has died."""


class Onlooker:
    """Hears how a removal goes on; this one says nothing."""

    def check(self) -> None:
        """Between two looks: may raise to end the waiting; nothing is removed half."""

    def says(self, text: str) -> None:
        """One line for people."""

    def removed(self, job: str) -> None:
        """A job is gone, whole."""


_NOBODY = Onlooker()


@dataclass(frozen=True)
class Sweepers:
    """What removing may need of its surroundings."""

    ensure: Ensure = start_controller
    clock: Clock | None = None
    onlooker: Onlooker = _NOBODY


def remove_view(root: Root, ids: Sequence[str], by: Sweepers | None = None) -> View:
    """`phalanx.rm/1`, once all of these jobs are gone; none goes unless all may.

    Raises `InputError` for what is no job's id, `StoreError` for a job that has not ended, whose
    tasks still end, or that somebody needs.
    """
    jobs = [_exactly(root, text) for text in dict.fromkeys(ids)]
    for job in jobs:
        _check_ended(job)
    for job in jobs:
        reasons = needed_by(root, job.id, [other.id for other in jobs])
        if reasons:
            raise StoreError(f"{job.id} is still needed: {reasons[0]}")
    by = by or Sweepers()
    settled = [_settled(job, by) for job in jobs]
    for job in settled:
        _end_senders(job, by)
    removed = [_remove(job, by) for job in settled]
    return {
        "schema": "phalanx.rm/1",
        "removed": removed,
        "bytes": sum(int(one["bytes"]) for one in removed),
    }


def needed_by(root: Root, job: str, without: Sequence[str] = ()) -> list[str]:
    """Why a job cannot go: one sentence for each who needs it. `without` are going as well."""
    return [reason for check in CHECKS for reason in check(root, job, without)]


def _descendants(root: Root, job: str, without: Sequence[str]) -> list[str]:
    """Jobs that begin from a checkpoint of this one and do not hold it themselves yet."""
    from phalanx.checkpoint.beginning import held, read_origin

    found = []
    for other in job_ids(root):
        keys = Keys(other)
        if other == job or other in without:
            continue
        try:
            origin = read_origin(root.store, keys)
        except CheckpointUnreadable:
            continue
        if origin is None or origin.job != job or origin.checkpoint is None:
            continue
        has_own = root.store.read(f"{held(keys, origin.checkpoint)}/manifest") is not None
        if not has_own and not _is_abandoned(root, keys):
            found.append(f"{other} begins from step {origin.step} of it and has no copy yet")
    return found


def _is_abandoned(root: Root, keys: Keys) -> bool:
    claim = root.store.pulse(keys.origin)
    is_old = claim is not None and claim[1] > _SUBMIT_NS
    return is_old and root.store.read(keys.record) is None


Check = Callable[[Root, str, Sequence[str]], list[str]]
"""(root, job, jobs that go as well) → why the job has to stay."""

CHECKS: tuple[Check, ...] = (_descendants,)
"""Everything that can need a job of another name."""


def _exactly(root: Root, text: str) -> Job:
    """Only whole ids: what a bare name means changes with every new job."""
    ids = job_ids(root)
    if text in ids:
        return load(root, text)
    named = [job for job in ids if (split := split_job_id(job)) and split[0] == text]
    if named:
        raise InputError(
            f"{text} is a name, and only whole ids are removed",
            hint=f"write {' or '.join(named[-3:])}",
        )
    return find_job(root, text)


def _check_ended(job: Job) -> None:
    if not job.record.phase.is_terminal:
        raise StoreError(
            f"{job.id} is {job.record.phase.value}: only jobs that have ended are removed",
            hint=f"`phalanx stop {job.id}` first",
        )


def _settled(job: Job, by: Sweepers) -> Job:
    """The job once no task of it can be left; a controller is started where none is at work."""
    clock = by.clock or SystemClock()
    deadline_ns = clock.monotonic_ns() + int(SETTLE_S * SECOND_NS)
    while not job.record.is_settled:
        if clock.monotonic_ns() >= deadline_ns:
            raise StoreError(
                f"tasks of {job.id} are still ending", hint="try again in a while; nothing is lost"
            )
        by.onlooker.check()
        by.ensure(job.root, job.id)
        clock.sleep(POLL_S)
        job = again(job)
    return job


def _end_senders(job: Job, by: Sweepers) -> None:
    """Controllers get the time to send the last messages; whatever is left then is ended.

    What a controller started outlives it, and would go on beside a root that has forgotten it.
    """
    from phalanx.backends.local.drivers import controllers

    clock = by.clock or SystemClock()
    start_ns = clock.monotonic_ns()
    while controllers(job.root.folder, job.id):
        waited_s = (clock.monotonic_ns() - start_ns) / SECOND_NS
        if waited_s >= SETTLE_S:
            by.onlooker.says(f"{job.id}: a message is still being sent; it is given up")
            break
        by.onlooker.check()
        if waited_s >= PATIENCE_S:
            left = f"at most {SETTLE_S:g} s"
            by.onlooker.says(f"waiting for the last messages of {job.id} to be sent ({left})")
        clock.sleep(POLL_S)
    _end_all(job)


def _end_all(job: Job) -> None:
    """Nothing of the job is left to write anywhere. Raises `StoreError` when it would not end."""
    from phalanx.backends.local.drivers import controllers, end, senders

    folder, created_ns = job.root.folder, job.record.created_ns
    # Controllers first: nobody else starts a sender.
    is_ended = end(lambda: controllers(folder, job.id))
    if not (end(lambda: senders(job.id, created_ns)) and is_ended):
        raise StoreError(
            f"a process that sends a message of {job.id} does not end",
            hint="try again in a while; nothing is lost",
        )


def _remove(job: Job, by: Sweepers) -> View:
    """The number is taken for good first, then the whole folder moves away in one step.

    A crash in between leaves the job as it was, a later one an unnamed rest that is cleaned.
    """
    by.onlooker.check()
    store, at_ns = job.root.store, job.root.store.now_ns()
    size = freed(os.path.join(job.root.folder, job.keys.base))
    words = {"phase": job.record.phase.value, "at": rfc3339(at_ns)}
    store.create(f"{REMOVED}/{job.id}", json.dumps(words).encode())
    for _ in range(_RETURNS):
        store.delete(job.keys.base)
        # Somebody may have read the job, found a message owed, and started a controller.
        _end_all(job)
        if not os.path.lexists(os.path.join(job.root.folder, job.keys.base)):
            break
    by.onlooker.removed(job.id)
    return {"job": job.id, "phase": job.record.phase.value, "bytes": size}


def freed(folder: str) -> int:
    """Bytes that go with a folder: of files, or names of files, that nobody else holds."""
    links: dict[tuple[int, int], list[int]] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                seen = os.lstat(os.path.join(place, name))
            except OSError:
                continue  # gone meanwhile
            entry = links.setdefault((seen.st_dev, seen.st_ino), [seen.st_size, seen.st_nlink])
            entry[1] -= 1
    return sum(size for size, elsewhere in links.values() if elsewhere <= 0)
