"""`init_from`: what it means today, so that the new job can never mean something else by it."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, NamedTuple, Protocol

from phalanx.app.jobs import Job, find_job
from phalanx.app.root import Root
from phalanx.errors import CheckpointUnreadable, InputError, PhalanxError
from phalanx.names import Keys
from phalanx.plan.job import JobPlan
from phalanx.plan.lineage import ALL, WEIGHTS, Origin

if TYPE_CHECKING:
    from phalanx.checkpoint.beginning import Read
    from phalanx.checkpoint.manifest import Manifest
    from phalanx.spec.life import InitFrom


class Wrong(Protocol):
    """Puts an error at the place of the first of some fields."""

    def __call__(self, error: PhalanxError, *fields: tuple[str | int, ...]) -> InputError:
        """The error to raise."""


class Asked(NamedTuple):
    """`init_from` as the job file has it, the file, and who knows the places in it."""

    init_from: InitFrom
    file: str
    wrong: Wrong


def origin_of(root: Root, asked: Asked, plan: JobPlan) -> Origin:
    """The exact checkpoint, or the exact files, that a job begins from; every byte was read.

    Raises `InputError`, at the place of the field, when they are not there or cannot be used.
    """
    init_from = asked.init_from
    fields: list[tuple[str, ...]] = [
        ("init_from", "job" if init_from.weights is None else "weights")
    ]
    try:
        if init_from.weights is not None:
            return _weights(init_from.weights, os.path.dirname(os.path.abspath(asked.file)))
        assert init_from.job is not None
        job = find_job(root, init_from.job)
        if init_from.step is not None:
            fields = [("init_from", "step"), *fields]
        name = checkpoint_of(job, init_from.step)
        found = _readable(job, name)
        if init_from.take != ALL:
            return _as_origin(job, found, WEIGHTS)
        fields = [("init_from", "take"), ("nodes",), ("ranks_per_node",), *fields]
        _check_ranks(job, found.manifest, plan.world_size)
        fields = [("init_from", "take"), ("total_steps",), *fields]
        _check_end(found.manifest.step, plan)
        return _as_origin(job, found, ALL)
    except (InputError, CheckpointUnreadable) as error:
        raise asked.wrong(error, *fields) from error


def _check_end(step: int, plan: JobPlan) -> None:
    if plan.total_steps is not None and step >= plan.total_steps:
        raise InputError(
            f"init_from takes everything of step {step}, and total_steps is "
            f"{plan.total_steps}: no step would be left",
            hint="set a larger total_steps, or take: weights",
        )


def checkpoint_of(job: Job, step: int | None) -> str:
    """The committed checkpoint of a step, or the newest. Raises `InputError`."""
    from phalanx.checkpoint.find import listing

    found = listing(job.root.store, job.keys, job.record.unreadable)
    if step is None:
        if found.resume_from is None:
            raise InputError(f"{job.id} has committed nothing that can be read")
        return found.resume_from
    rows = [row for row in found.rows if row.step == step]
    right = [row for row in rows if row.committed and not row.refused_because]
    if right:
        return right[0].name
    if rows:
        raise InputError(f"step {step} of {job.id} cannot be used: {rows[0].refused_because}")
    known = [str(row.step) for row in found.rows if row.committed and not row.refused_because]
    held = f"it holds the steps {', '.join(reversed(known))}" if known else "nothing is committed"
    raise InputError(f"{job.id} has no checkpoint of step {step}", hint=held)


def _readable(job: Job, name: str) -> Read:
    """The manifest of a checkpoint whose every byte was read."""
    from phalanx.checkpoint.beginning import read_exactly
    from phalanx.checkpoint.reading import problems

    store, folder = job.root.store, job.keys.checkpoint(name)
    found = read_exactly(store, job.keys.manifest(name), name)
    if found.manifest.is_folder:
        raise InputError(
            f"{job.id} keeps what its framework wrote, which no Checkpointer can take",
            hint=f"`phalanx checkpoints restore {job.id} --to FOLDER`, then init_from.weights",
        )
    wrong = problems(store, folder, name)
    if wrong:
        raise CheckpointUnreadable(f"init_from: {name} of {job.id} is damaged: {wrong[0]}")
    return found


def _as_origin(job: Job, found: Read, take: str) -> Origin:
    manifest, theirs = found.manifest, found.manifest.init_from
    before = (theirs.as_ancestor(), *theirs.before) if theirs is not None else ()
    return Origin(take, job.id, manifest.name, manifest.step, found.digest, before=before)


def _check_ranks(job: Job, manifest: Manifest, ranks: int) -> None:
    """Raises `CheckpointUnreadable` when so many ranks cannot take the whole state."""
    if ranks == manifest.world_size:
        return
    from phalanx.checkpoint.ranks import differing

    names = differing(job.root.store, job.keys.checkpoint(manifest.name), manifest)
    if names:
        raise CheckpointUnreadable(
            f"init_from: {names[0]!r} differs between the {manifest.world_size} ranks of "
            f"{manifest.name}, so a job of {ranks} cannot take it",
            hint=f"run {manifest.world_size} ranks, or take: weights",
        )


def _weights(text: str, folder: str) -> Origin:
    from phalanx.checkpoint.weights import measured, weights_in

    path = os.path.expanduser(text.removeprefix("file://"))
    path = os.path.normpath(os.path.join(folder, path))
    names = weights_in(path)
    inside = os.path.dirname(path) if os.path.isfile(path) else path
    try:
        files = tuple(measured(inside, name) for name in names)
    except CheckpointUnreadable as error:
        said = f"init_from.weights: {error.message}"
        raise InputError(said, hint="fetch it again, or name another file") from error
    lines = "".join(f"{file.name} {file.bytes} {file.sha256}\n" for file in files)
    digest = hashlib.sha256(lines.encode()).hexdigest()
    return Origin(weights=path, files=files, digest=digest)


def settle(root: Root, job: str, plan: JobPlan) -> bool:
    """Make a number of a job the caller's and give it what it begins from; False: it is taken.

    Raises `CheckpointUnreadable` when that is no longer there or damaged; nothing is left then.
    """
    origin = plan.init_from
    if origin is None:
        return True
    from phalanx.checkpoint import beginning

    store, keys = root.store, Keys(job)
    if not beginning.claim(store, keys, origin):
        return False
    try:
        beginning.hold(store, keys, origin)
    except BaseException:
        beginning.let_go(store, keys)
        raise
    return True


def unsettle(root: Root, job: str, plan: JobPlan) -> None:
    """Undo `settle`: somebody else has the number."""
    if plan.init_from is not None:
        from phalanx.checkpoint.beginning import let_go

        let_go(root.store, Keys(job))
