"""What is committed, and whether it can be read."""

from __future__ import annotations

import os

from phalanx.app.jobs import Job
from phalanx.app.look import Look
from phalanx.app.root import folder_of, open_root
from phalanx.app.views import View
from phalanx.errors import CheckpointUnreadable, InputError


def committed_ns(look: Look) -> int | None:
    """Store time of the newest commit; None when there is none or its manifest is unreadable."""
    name = look.head.checkpoint if look.head else None
    found = look.job.root.store.read(look.job.keys.manifest(name)) if name else None
    if name is None or found is None:
        return None
    from phalanx.checkpoint.manifest import read_manifest

    try:
        return read_manifest(found.data, name).created_ns or None
    except CheckpointUnreadable:
        return None


def checkpoints_view(job: Job) -> View:
    """`phalanx.checkpoints/1`: every checkpoint of a job, newest first; bytes are not read."""
    from phalanx.checkpoint.find import listing
    from phalanx.state.codec import plain

    found = listing(job.root.store, job.keys, job.record.unreadable)
    return {
        "schema": "phalanx.checkpoints/1",
        "job": job.id,
        "resume_from": found.resume_from,
        "checkpoints": [plain(row) for row in found.rows],
        "init_from": plain(job.record.plan.init_from),
    }


def verify_view(path: str) -> View:
    """`phalanx.verify/1`: every byte of the checkpoints at a folder was read.

    Raises `InputError` when nothing is there to verify.
    """
    from phalanx.checkpoint.verify import verify_folder
    from phalanx.state.codec import plain

    folder = folder_of(path)
    if not os.path.isdir(folder):
        raise InputError(
            f"{path}: no such folder", hint="name a checkpoint's folder, a job's folder or a root"
        )
    verdicts = verify_folder(folder, lambda at: open_root(at).store)
    return {
        "schema": "phalanx.verify/1",
        "verified": not any(verdict.problems for verdict in verdicts),
        "checkpoints": [
            {
                "where": v.where,
                "name": v.name,
                "problems": list(v.problems),
                "init_from": plain(v.init_from),
            }
            for v in verdicts
        ],
    }
