"""`phalanx stop JOB`."""

from __future__ import annotations

import click

from phalanx.app import api
from phalanx.app.act import follow, request_stop
from phalanx.app.revive import revive
from phalanx.cli import view
from phalanx.cli.options import job_argument, json_option, note, out, out_json, root_option, starter


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
    found = api.find(job, root, starter(ctx))
    note(found.note)
    if found.record.phase.is_terminal:
        note(f"phalanx: {found.id} has ended before: {found.record.phase.value}")
    found = request_stop(found, save=save, reason="phalanx stop")
    note(revive(found, starter(ctx)))
    if not found.record.phase.is_terminal:
        grace_s = found.record.plan.stop_grace_s
        note(f"phalanx: waiting for the ranks of {found.id} to end (they have {grace_s:g} s)")
    found = follow(found, timeout_s=timeout_s, ensure=starter(ctx))
    answer = api.status_of(found)
    if not found.record.phase.is_terminal:
        note(f"phalanx: {found.id} is still {answer['phase']}; the request to stop stays")
    out_json(answer) if as_json else out(view.ending(answer))
    return 0 if found.record.phase.is_terminal else 1
