"""`phalanx ledger JOB`."""

from __future__ import annotations

import click

from phalanx.app import api
from phalanx.cli import view
from phalanx.cli.options import job_argument, json_option, note, out, out_json, root_option, starter


@click.command("ledger")
@job_argument
@root_option
@json_option
@click.pass_context
def command(ctx: click.Context, job: str, root: str | None, as_json: bool) -> None:
    """Where a job's time went; the labels sum to the instance time exactly."""
    found = api.find(job, root, starter(ctx))
    note(found.note)
    answer = api.ledger_of(found)
    out_json(answer) if as_json else out(view.ledger(answer))
