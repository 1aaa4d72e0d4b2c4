"""The SDK: what `import phalanx` offers, of the same shape as the command line.

Every function returns the very object that the verb prints with `--json`, and raises the errors
of `phalanx.errors`. `job` is an id (`gpt-docs-3`) or a bare name for the newest job of that name;
`root` is a folder (default: PHALANX_ROOT, else `./.phalanx`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from phalanx.app.jobs import Job, find_job, load_all
from phalanx.app.revive import Ensure, revive, start_controller
from phalanx.app.root import open_root

if TYPE_CHECKING:
    from phalanx.app.listing import Wanted


def run(
    file: str,
    *,
    root: str | None = None,
    sets: Sequence[str] = (),
    target: str | None = None,
    ensure: Ensure = start_controller,
) -> dict[str, Any]:
    """Start the job that a file describes and return at once: `phalanx.run/1`.

    `sets` are `path=value` words that replace fields of the file.
    """
    from phalanx.app.submit import submit

    job = submit(file, sets, root, target=target, ensure=ensure).job
    return {"schema": "phalanx.run/1", "job": job}


def ps(
    *,
    root: str | None = None,
    wanted: Wanted | None = None,
    ensure: Ensure = start_controller,
) -> dict[str, Any]:
    """The jobs under the root, all of them unless told, newest first: `phalanx.ps/1`."""
    from phalanx.app.checkpoints import committed_ns
    from phalanx.app.listing import EVERYTHING, listed
    from phalanx.app.look import look
    from phalanx.app.views import ps_view

    jobs, refused = load_all(open_root(root))
    for job in jobs:
        revive(job, ensure)
    found = listed(jobs, EVERYTHING if wanted is None else wanted)
    looks = [look(job) for job in found.jobs]
    view = ps_view([(seen, committed_ns(seen)) for seen in looks], refused)
    return {**view, "left_out": found.left_out}


def status(
    job: str, *, root: str | None = None, ensure: Ensure = start_controller
) -> dict[str, Any]:
    """Where a job is: `phalanx.status/1`."""
    return status_of(find(job, root, ensure))


def status_of(job: Job) -> dict[str, Any]:
    """`phalanx.status/1` of a loaded job."""
    from phalanx.app.checkpoints import committed_ns
    from phalanx.app.look import look
    from phalanx.app.views import status_view

    seen = look(job)
    return status_view(seen, committed_ns(seen))


def wait(
    job: str,
    *,
    root: str | None = None,
    timeout_s: float | None = None,
    ensure: Ensure = start_controller,
) -> dict[str, Any]:
    """Wait for a job's end, at most `timeout_s`, and return `phalanx.status/1`."""
    from phalanx.app.act import follow

    return status_of(follow(find(job, root, ensure), timeout_s=timeout_s, ensure=ensure))


def stop(
    job: str,
    *,
    root: str | None = None,
    save: bool = False,
    timeout_s: float | None = None,
    ensure: Ensure = start_controller,
) -> dict[str, Any]:
    """Ask a job to stop, wait until it has, and return `phalanx.status/1`."""
    from phalanx.app.act import request_stop
    from phalanx.app.rest import until_stopped

    asked = request_stop(find(job, root, ensure), save=save, reason="phalanx.stop")
    return status_of(until_stopped(asked, timeout_s=timeout_s, ensure=ensure))


def pause(
    job: str,
    *,
    root: str | None = None,
    timeout_s: float | None = None,
    ensure: Ensure = start_controller,
) -> dict[str, Any]:
    """Let a job save and rest, wait until it does, and return `phalanx.status/1`."""
    from phalanx.app.rest import request_pause, until_paused

    asked = request_pause(find(job, root, ensure), reason="phalanx.pause")
    return status_of(until_paused(asked, timeout_s=timeout_s, ensure=ensure))


def resume(
    job: str,
    *,
    root: str | None = None,
    timeout_s: float | None = None,
    ensure: Ensure = start_controller,
) -> dict[str, Any]:
    """Let a paused job go on, wait until it does, and return `phalanx.status/1`."""
    from phalanx.app.rest import request_resume, until_resumed

    asked = request_resume(find(job, root, ensure))
    revive(asked, ensure)
    return status_of(until_resumed(asked, timeout_s=timeout_s, ensure=ensure))


def why(job: str, *, root: str | None = None, ensure: Ensure = start_controller) -> dict[str, Any]:
    """Why a job is where it is: `phalanx.why/1`."""
    return why_of(find(job, root, ensure))


def why_of(job: Job) -> dict[str, Any]:
    """`phalanx.why/1` of a loaded job."""
    from phalanx.app.look import look
    from phalanx.app.notices import seen_notices
    from phalanx.app.why import why_view

    ended = [past.attempt for past in job.record.history[-1:]]
    return why_view(look(job), seen_notices(job, frozenset([*ended, job.record.attempt])))


def ledger(
    job: str, *, root: str | None = None, ensure: Ensure = start_controller
) -> dict[str, Any]:
    """Where a job's time went: `phalanx.ledger/1`."""
    return ledger_of(find(job, root, ensure))


def ledger_of(job: Job) -> dict[str, Any]:
    """`phalanx.ledger/1` of a loaded job."""
    from phalanx.app.account import ledger_view

    return ledger_view(job)


def metrics(
    job: str,
    *,
    root: str | None = None,
    rank: int | None = None,
    name: str | None = None,
    ensure: Ensure = start_controller,
) -> dict[str, Any]:
    """What one rank reported, each step once: `phalanx.metrics/1`.

    `rank` None is the lowest that reported any; `name` keeps one metric.
    """
    return metrics_of(find(job, root, ensure), rank=rank, name=name)


def metrics_of(job: Job, *, rank: int | None = None, name: str | None = None) -> dict[str, Any]:
    """`phalanx.metrics/1` of a loaded job."""
    from phalanx.app.metrics import metrics_view

    return metrics_view(job, rank, name)


def checkpoints(
    job: str, *, root: str | None = None, ensure: Ensure = start_controller
) -> dict[str, Any]:
    """The checkpoints of a job: `phalanx.checkpoints/1`."""
    from phalanx.app.checkpoints import checkpoints_view

    return checkpoints_view(find(job, root, ensure))


def rm(*jobs: str, root: str | None = None, ensure: Ensure = start_controller) -> dict[str, Any]:
    """Remove jobs that have ended, named by their whole ids: `phalanx.rm/1`."""
    from phalanx.app.remove import Sweepers, remove_view

    return remove_view(open_root(root), jobs, Sweepers(ensure))


def stacks(
    job: str,
    *,
    root: str | None = None,
    slot: int | None = None,
    rank: int | None = None,
    ensure: Ensure = start_controller,
) -> dict[str, Any]:
    """What the ranks of a running job are doing now: `phalanx.stacks/1`. They go on."""
    from phalanx.app.inside import Choice, stacks_view

    return stacks_view(find(job, root, ensure), Choice(slot, rank))


def logs(
    job: str,
    *,
    root: str | None = None,
    slot: int | None = None,
    rank: int | None = None,
    attempt: int | None = None,
) -> Iterator[dict[str, Any]]:
    """What the ranks printed so far, by time: objects with `at, slot, rank, stream, text`."""
    from phalanx.app.logs import Filter, LogReader, line_view
    from phalanx.app.which import check_filter

    found, only = find_job(open_root(root), job), Filter(slot, rank, attempt)
    check_filter(found, only)
    reader = LogReader(f"{found.root.folder}/{found.keys.logs}", only)
    return (line_view(line) for line in reader.read(last=True))


def find(text: str, root: str | None, ensure: Ensure = start_controller) -> Job:
    """The job that `text` means; a job that nobody drives gets a controller."""
    job = find_job(open_root(root), text)
    revive(job, ensure)
    return job
