"""`phalanx resume JOB`."""

from __future__ import annotations

import click

from phalanx.app import api
from phalanx.app.rest import request_resume, until_resumed
from phalanx.app.revive import revive
from phalanx.cli import view
from phalanx.cli.options import job_argument, json_option, note, out, out_json, root_option, starter


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

    Exit 0 once that attempt is open; 1 when it was not in time (the request stays).
    """
    found = api.find(job, root, starter(ctx))
    note(found.note)
    found = request_resume(found)
    note(revive(found, starter(ctx)))
    found = until_resumed(found, timeout_s=timeout_s, ensure=starter(ctx))
    answer = api.status_of(found)
    is_open = found.record.ending is None
    if not is_open:
        note(f"phalanx: {found.id} is still {answer['phase']}; the request to go on stays")
    out_json(answer) if as_json else out(view.ending(answer))
    return 0 if is_open else 1
