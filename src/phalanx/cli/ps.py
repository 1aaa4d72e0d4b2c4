"""`phalanx ps`."""

from __future__ import annotations

import click

from phalanx.app import api
from phalanx.app.listing import ENDED_SHOWN, EVERYTHING, Wanted, phase_of, since
from phalanx.app.root import open_root
from phalanx.cli import view_ps
from phalanx.cli.options import (
    complete_job,
    complete_phase,
    json_option,
    note,
    out,
    out_json,
    root_option,
    starter,
)


@click.command("ps")
@click.argument("names", nargs=-1, metavar="[NAME...]", shell_complete=complete_job)
@click.option(
    "--phase",
    "phases",
    multiple=True,
    metavar="PHASE",
    shell_complete=complete_phase,
    help="Only jobs in this phase; may be given again.",
)
@click.option("--all", "every", is_flag=True, help="All jobs, however long ago they ended.")
@click.option("--ended", is_flag=True, help="Only jobs that have ended.")
@click.option(
    "--since", "after", metavar="TIME", help="Only jobs not over by then: 2h, 7d, a date."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="The newest N.")
@root_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    names: tuple[str, ...],
    phases: tuple[str, ...],
    after: str | None,
    limit: int | None,
    root: str | None,
    **flags: bool,
) -> None:
    """List the jobs under the root, newest first.

    NAME is a bare name, an id or a pattern ('gpt*'). Without a condition: every job that has not
    ended, and the newest 20 that have.
    """
    wanted = asked = Wanted(
        names=names,
        phases=tuple(phase_of(word) for text in phases for word in text.split(",")),
        ended=True if flags["ended"] else None,
        since_ns=since(after, open_root(root).store.now_ns()) if after else None,
        limit=limit,
    )
    if wanted == EVERYTHING and not flags["every"]:
        wanted = Wanted(ended_limit=ENDED_SHOWN)
    answer = api.ps(root=root, wanted=wanted, ensure=starter(ctx))
    for item in answer["unreadable"]:
        note(f"phalanx: {item['because']}")
    is_filtered = asked._replace(names=(), limit=None) != EVERYTHING
    text = view_ps.ps(answer, names, is_filtered=is_filtered)
    out_json(answer) if flags["as_json"] else out(text)
    if answer["left_out"]:
        how = "--limit" if limit is not None else "--all"
        count = answer["left_out"]
        older = "1 older job is" if count == 1 else f"{count} older jobs are"
        note(f"phalanx: {older} not listed (see {how})")
