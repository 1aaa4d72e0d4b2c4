"""`phalanx metrics JOB`."""

from __future__ import annotations

import click

from phalanx.app import api
from phalanx.cli import view_metrics
from phalanx.cli.options import job_argument, json_option, note, out, out_json, root_option, starter


@click.command("metrics")
@job_argument
@click.option("--rank", type=click.IntRange(min=0), help="This rank. [the lowest that reported]")
@click.option("--name", metavar="METRIC", help="Only this metric, step by step.")
@click.option(
    "--tail", "last", type=click.IntRange(min=0), metavar="N", help="The last N steps only."
)
@root_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    job: str,
    rank: int | None,
    name: str | None,
    last: int | None,
    root: str | None,
    as_json: bool,
) -> None:
    """What a rank reported, each step once: steps that were done again count as done last.

    A line a metric; with --name one a step.
    """
    found = api.find(job, root, starter(ctx))
    note(found.note)
    answer = api.metrics_of(found, rank=rank, name=name)
    if last is not None:
        answer["points"] = answer["points"][len(answer["points"]) - last :] if last else []
    out_json(answer) if as_json else out(view_metrics.metrics(answer, by_step=name is not None))
