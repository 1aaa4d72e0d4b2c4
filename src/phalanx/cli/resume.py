"""`phalanx resume JOB`."""

from __future__ import annotations

import click

from phalanx.app import api
from phalanx.app.fallback import ahead
from phalanx.app.jobs import Job
from phalanx.app.look import read
from phalanx.app.rest import request_resume, until_resumed, why_not_resumed
from phalanx.app.revive import Ensure, revive
from phalanx.cli import view
from phalanx.cli.options import job_argument, json_option, note, out, out_json, root_option, starter
from phalanx.cli.waiting import Waiting
from phalanx.state.gang import Head


@click.command("resume")
@job_argument
@click.option("--timeout", "timeout_s", type=float, metavar="SECONDS", help="Wait no longer.")
@root_option
@json_option
@click.pass_context
def command(
    ctx: click.Context, job: str, timeout_s: float | None, root: str | None, as_json: bool
) -> int:
    """Let a paused job go on from its last committed checkpoint, as its next attempt.

    Exit 0 once that attempt is open; 1 when it was not in time (the request stays), or somebody
    asked the job to stop or to pause again meanwhile.
    """
    waiting = Waiting(root, f"nothing was asked of {job}")

    def work() -> int:
        before = api.find(job, root, starter(ctx))
        found, fallback = _until_resumed(before, timeout_s, starter(ctx), waiting)
        answer = api.status_of(found)
        record = found.record
        is_open = record.attempt > before.record.attempt or record.ending is None
        if not is_open:
            note(f"phalanx: {why_not_resumed(found)}")
        # The record was written before anybody tried to read the checkpoint.
        told = {**answer, "message": fallback} if is_open and fallback else answer
        out_json(answer) if as_json else out(view.ending(told))
        return 0 if is_open else 1

    return waiting.run(work)


def _until_resumed(
    found: Job, timeout_s: float | None, ensure: Ensure, waiting: Waiting
) -> tuple[Job, str]:
    """The job as it is then, and what cannot be read of it; '' when nothing."""
    note(found.note)
    passed = ahead(found, read(found, Head, found.keys.head))
    found = request_resume(found)
    if passed is not None:
        waiting.say(passed.sentence())
    waiting.state = (
        f"the request to let {found.id} go on is recorded; `phalanx status"
        f" {found.id}{waiting.where}` shows it, `phalanx pause {found.id}{waiting.where}` takes it"
        " back"
    )
    note(revive(found, ensure))
    found = until_resumed(found, waiting.see, timeout_s=timeout_s, ensure=ensure)
    return found, passed.sentence() if passed is not None else ""
