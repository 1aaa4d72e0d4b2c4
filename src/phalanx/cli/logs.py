"""`phalanx logs JOB`."""

from __future__ import annotations

import time
from collections.abc import Iterable

import click

from phalanx.app import api
from phalanx.app.jobs import load
from phalanx.app.logs import Filter, Line, LogReader, line_view, tail
from phalanx.cli.options import job_argument, json_option, note, out, out_json, root_option, starter

POLL_S = 0.2


@click.command("logs")
@job_argument
@click.option("--follow", "-f", is_flag=True, help="Go on until the job has ended.")
@click.option("--slot", type=int, help="Only this slot.")
@click.option("--rank", type=int, help="Only this rank.")
@click.option("--attempt", type=int, help="Only this attempt.")
@click.option("--tail", "last", type=click.IntRange(min=0), metavar="N", help="The last N lines.")
@root_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    job: str,
    follow: bool,
    last: int | None,
    root: str | None,
    as_json: bool,
    **only: int | None,
) -> None:
    """What the ranks of a job printed, in order of time, each line with [slot/rank].

    With --json: one object a line with at, slot, rank, stream and text.
    """
    found = api.find(job, root, starter(ctx))
    note(found.note)
    reader = LogReader(f"{found.root.folder}/{found.keys.logs}", Filter(**only))
    _print(tail(reader.read(last=not follow), last), as_json)
    while follow:
        ended = load(found.root, found.id).record.phase.is_terminal
        _print(reader.read(last=ended), as_json)
        if ended:
            return
        time.sleep(POLL_S)


def _print(lines: Iterable[Line], as_json: bool) -> None:
    for line in lines:
        out_json(line_view(line)) if as_json else out(text(line))


def text(line: Line) -> str:
    """`[0/1] step 12 loss 3.4`."""
    return f"[{line.slot}/{line.rank}] {line.text}"
