"""`phalanx logs JOB`."""

from __future__ import annotations

import time
from collections.abc import Iterable

import click

from phalanx.app import api
from phalanx.app.act import again
from phalanx.app.logs import Filter, Line, LogReader, line_view, tail
from phalanx.app.which import check_filter
from phalanx.cli.options import job_argument, json_option, note, out, out_json, root_option, starter

POLL_S = 0.2


@click.command("logs")
@job_argument
@click.option("--follow", "-f", is_flag=True, help="Go on until the job has ended.")
@click.option("--slot", type=int, metavar="N", help="Only this slot.")
@click.option("--rank", type=int, metavar="N", help="Only this rank.")
@click.option("--attempt", type=int, metavar="N", help="Only this attempt.")
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
    check_filter(found, Filter(**only))
    reader = LogReader(f"{found.root.folder}/{found.keys.logs}", Filter(**only))
    count = _print(tail(reader.read(last=not follow), last), as_json)
    said = ", ".join(f"{what} {number}" for what, number in only.items() if number is not None)
    if said and not (count or follow or last == 0):
        note(f"phalanx: nothing was printed by {said} of {found.id}")
    while follow:
        ended = again(found).record.phase.is_terminal
        _print(reader.read(last=ended), as_json)
        if ended:
            return
        time.sleep(POLL_S)


def _print(lines: Iterable[Line], as_json: bool) -> int:
    count = 0
    for count, line in enumerate(lines, start=1):  # noqa: B007
        out_json(line_view(line)) if as_json else out(text(line))
    return count


def text(line: Line) -> str:
    """`[0/1] step 12 loss 3.4`."""
    return f"[{line.slot}/{line.rank}] {line.text}"
