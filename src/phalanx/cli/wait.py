"""`phalanx wait JOB`."""

from __future__ import annotations

import click

from phalanx.app import api
from phalanx.app.act import follow
from phalanx.app.jobs import Job
from phalanx.cli import view
from phalanx.cli.options import job_argument, json_option, note, out, out_json, root_option, starter
from phalanx.cli.waiting import Waiting
from phalanx.words import Phase


@click.command("wait")
@job_argument
@click.option("--timeout", "timeout_s", type=float, metavar="SECONDS", help="Wait no longer.")
@root_option
@json_option
@click.pass_context
def command(
    ctx: click.Context, job: str, timeout_s: float | None, root: str | None, as_json: bool
) -> int:
    """Wait until a job has ended.

    Exit 0 when it succeeded; 1 when it failed, was stopped, or had not ended in time.
    """
    found = api.find(job, root, starter(ctx))
    note(found.note)
    found = follow(found, _Once(Waiting(root, "")), timeout_s=timeout_s, ensure=starter(ctx))
    answer = api.status_of(found)
    if not found.record.phase.is_terminal:
        note(f"phalanx: {found.id} is still {answer['phase']} after {timeout_s:g} s")
    out_json(answer) if as_json else out(view.ending(answer))
    return 0 if answer["phase"] == "Succeeded" else 1


class _Once:
    """Says, each time that a job begins to rest, that waiting goes on; and what is waited for."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._is_paused = False

    def __call__(self, job: Job) -> None:
        self._waiting.say_waits(job)
        was, self._is_paused = self._is_paused, job.record.phase is Phase.PAUSED
        if self._is_paused and not was:
            how = f"`phalanx resume {job.id}` lets it go on"
            note(f"phalanx: {job.id} is Paused; waiting for its end all the same ({how})")
