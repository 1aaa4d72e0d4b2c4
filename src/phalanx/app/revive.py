"""Whoever reads a job and finds nobody driving it starts a controller for it."""

from __future__ import annotations

from collections.abc import Callable

from phalanx.app.jobs import Job
from phalanx.app.root import Root
from phalanx.controller.beat import read_beat
from phalanx.errors import PhalanxError
from phalanx.names import Keys

Ensure = Callable[[Root, str], object]
"""Called with (root, job's id); makes sure that a controller drives the job."""


def start_controller(root: Root, job: str) -> None:
    """The real `Ensure`: a detached controller process, unless one already beats."""
    # Imported late: a job that is driven, as most are, needs none of it.
    from pathlib import Path

    from phalanx.controller.start import ensure

    ensure(root.store, Path(root.folder), job)


def is_driven(job: Job) -> bool:
    """Whether a controller's beat is fresh."""
    beat = read_beat(job.root.store, Keys(job.id))
    return beat is not None and beat.is_fresh


def revive(job: Job, ensure: Ensure = start_controller) -> str:
    """Start a controller when the job needs one and has none.

    Returns "" or one line that says why none could be started: reading goes on all the same.
    """
    is_over = job.record.phase.is_terminal or job.record.is_settled
    if (is_over and not _owes_messages(job)) or is_driven(job):
        return ""
    try:
        ensure(job.root, job.id)
    except (PhalanxError, OSError) as error:
        said = error.line() if isinstance(error, PhalanxError) else str(error)
        return f"no controller drives {job.id} and none could be started: {said}"
    return ""


def _owes_messages(job: Job) -> bool:
    if not job.record.plan.notify:
        return False
    from phalanx.app.messages import owes_messages  # few jobs have receivers

    return owes_messages(job)
