"""A committed checkpoint in plain form, outside the root."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from phalanx.app.jobs import Job
from phalanx.app.origin import checkpoint_of
from phalanx.app.views import View
from phalanx.errors import InputError


def restore_view(
    job: Job,
    to: str,
    which: int | str | None = None,
    formats: Sequence[str] = (),
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> View:
    """`phalanx.restore/1`: a checkpoint was written to the folder `to`; every byte was read.

    `which` is a step, a checkpoint's name or None for the newest. `tell` hears the bytes written
    and those of all. Raises `InputError` for a checkpoint that is not there or a folder that is
    not empty, `CheckpointUnreadable` for damage, `StoreUnavailable` when `to` cannot be written.
    """
    from phalanx.checkpoint.find import names
    from phalanx.checkpoint.restore import Source, check_target, restore
    from phalanx.state.codec import plain

    target = os.path.abspath(os.path.expanduser(to))
    _check_outside(job, target)
    check_target(target)
    name = which if isinstance(which, str) else checkpoint_of(job, which)
    if name not in names(job.root.store, job.keys):
        raise InputError(
            f"{job.id} has no checkpoint {name}", hint="`phalanx checkpoints` lists them"
        )
    done = restore(job.root.store, Source(job.id, name), target, formats or ("safetensors",), tell)
    return {
        "schema": "phalanx.restore/1",
        "job": job.id,
        "checkpoint": name,
        "step": done.manifest.step,
        "to": target,
        "files": list(done.files),
        "bytes": done.bytes,
        "init_from": plain(done.manifest.init_from),
    }


def _check_outside(job: Job, target: str) -> None:
    root = os.path.realpath(job.root.folder)
    if os.path.commonpath((root, os.path.realpath(target))) == root:
        raise InputError(f"{target} lies inside the root", hint="name a folder outside of it")
