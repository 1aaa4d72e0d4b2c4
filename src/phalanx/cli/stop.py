"""`phalanx stop JOB`."""

from __future__ import annotations

import click

from phalanx.app import api
from phalanx.app.act import request_stop
from phalanx.app.jobs import Job
from phalanx.app.notices import unsaved
from phalanx.app.rest import until_stopped
from phalanx.app.revive import Ensure, revive
from phalanx.cli import view
from phalanx.cli.options import job_argument, json_option, note, out, out_json, root_option, starter
from phalanx.cli.waiting import Waiting
from phalanx.words import Phase


@click.command("stop")
@job_argument
@click.option("--save", is_flag=True, help="Let all ranks save the same step first.")
@click.option("--timeout", "timeout_s", type=float, metavar="SECONDS", help="Wait no longer.")
@root_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    job: str,
    save: bool,
    timeout_s: float | None,
    root: str | None,
    as_json: bool,
) -> int:
    """End a job and wait until nothing of it runs; exit 0 then.

    With --timeout, exit 1 when it had not ended in time; the request stays.
    """
    waiting = Waiting(root, f"nothing was asked of {job}")

    def work() -> int:
        found = api.find(job, root, starter(ctx))
        note(found.note)
        found = _until_stopped(_asked(found, save, waiting), timeout_s, starter(ctx), waiting)
        answer = api.status_of(found)
        if not found.record.phase.is_terminal:
            note(f"phalanx: {found.id} is still {answer['phase']}; the request to stop stays")
        note(_unsaved(found))
        out_json(answer) if as_json else out(view.ending(answer))
        return 0 if found.record.phase.is_terminal else 1

    return waiting.run(work)


def _asked(found: Job, save: bool, waiting: Waiting) -> Job:
    """The job with the request in its record, after saying what stood there before."""
    was = found.record
    if was.phase.is_terminal:
        note(f"phalanx: {found.id} has ended before: {was.phase.value}")
    elif was.stop is not None:
        asked = f" ({was.stop.reason})" if was.stop.reason else ""
        note(f"phalanx: {found.id} was asked to stop before{asked}; it is {was.phase.value}")
    asked_job = request_stop(found, save=save, reason="phalanx stop")
    now = asked_job.record
    if now.phase.is_terminal and not was.phase.is_terminal and now.stop is None:
        note(f"phalanx: {found.id} ended by itself meanwhile: {now.phase.value}")
    waiting.state = (
        f"the request to stop {found.id} is recorded and goes on; `phalanx status"
        f" {found.id}{waiting.where}` shows it"
    )
    return asked_job


def _until_stopped(found: Job, timeout_s: float | None, ensure: Ensure, waiting: Waiting) -> Job:
    note(revive(found, ensure))
    if not found.record.phase.is_terminal:
        grace_s = found.record.plan.stop_grace_s
        note(f"phalanx: waiting for the ranks of {found.id} to end (they have {grace_s:g} s)")
    return until_stopped(found, waiting.see, timeout_s=timeout_s, ensure=ensure)


def _unsaved(found: Job) -> str:
    """What became of a last save that was asked for, when there is none."""
    stop = found.record.stop
    if found.record.phase is not Phase.STOPPED or stop is None or not stop.save:
        return ""
    said = unsaved(found, "stop-save")
    return f"phalanx: {said}" if said else ""
