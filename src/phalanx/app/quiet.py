"""Wait until nothing of a job that has ended, or rests, is left on this machine.

The phase is written first; then the tasks are looked for twice more, messages go out, and only
after that the controller ends. Whoever acts on the job before would meet it half-way.
"""

from __future__ import annotations

from collections.abc import Callable

from phalanx.app.act import again
from phalanx.app.jobs import Job
from phalanx.app.revive import Ensure, is_driven, start_controller
from phalanx.clock import SECOND_NS, Clock, SystemClock
from phalanx.errors import PhalanxError
from phalanx.words import Phase

QUIET_S = 20.0
"""Longest wait for the last controller: longer than all tries of a message that hangs."""
POLL_S = 0.03


def until_quiet(
    job: Job,
    see: Callable[[Job], None] = lambda job: None,
    *,
    timeout_s: float | None = None,
    ensure: Ensure = start_controller,
    clock: Clock | None = None,
) -> Job:
    """The job once it is swept and no controller of it lives here; as it is after `timeout_s`.

    Returns at once when it neither has ended nor rests. `see` is called at every look. Raises
    `StoreUnavailable` when the job was removed.
    """
    clock = clock or SystemClock()
    limit_s = QUIET_S if timeout_s is None else min(QUIET_S, timeout_s)
    until_ns = clock.monotonic_ns() + int(limit_s * SECOND_NS)
    while is_over(job) and not is_quiet(job) and clock.monotonic_ns() < until_ns:
        see(job)
        if not job.record.is_settled and not is_driven(job):
            try:
                ensure(job.root, job.id)
            except (PhalanxError, OSError):
                return job  # nobody can be started here; the job is over all the same
        clock.sleep(POLL_S)
        job = again(job)
    return job


def is_over(job: Job) -> bool:
    """Whether the job has ended or rests."""
    return job.record.phase.is_terminal or job.record.phase is Phase.PAUSED


def is_quiet(job: Job) -> bool:
    """Whether nothing is left to be done, and nobody here who might."""
    if not job.record.is_settled:
        return False
    from phalanx.backends.local.drivers import controllers

    return not controllers(job.root.folder, job.id)
