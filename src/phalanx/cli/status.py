"""`phalanx status JOB`."""

from __future__ import annotations

import click

from phalanx.app import api
from phalanx.cli import view
from phalanx.cli.options import job_argument, json_option, note, out, out_json, root_option, starter


@click.command("status")
@job_argument
@root_option
@json_option
@click.pass_context
def command(ctx: click.Context, job: str, root: str | None, as_json: bool) -> None:
    """Where one job is: phase, step, checkpoint, tasks and what happened before."""
    found = api.find(job, root, starter(ctx))
    note(found.note)
    answer = api.status_of(found)
    out_json(answer) if as_json else out(view.status(answer))
