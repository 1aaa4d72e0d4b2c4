"""`phalanx checkpoints [list] JOB`, and `verify`, `prune` and `restore`."""

from __future__ import annotations

from typing import Any

import click

from phalanx.app import api
from phalanx.app.checkpoints import checkpoints_view, verify_view
from phalanx.app.jobs import Job
from phalanx.cli import view
from phalanx.cli.bytesbar import BytesBar
from phalanx.cli.options import (
    job_argument,
    json_option,
    note,
    out,
    out_json,
    root_option,
    starter,
)

_BEFORE = {"--json": 1, "--root": 2}
"""Options that may stand before the word, and how many words they take."""


class Words(click.Group):
    """`checkpoints JOB` is short for `checkpoints list JOB`; no job has such a name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the word first, or `list` where there is none."""
        if not args:
            raise click.UsageError(
                "`checkpoints` takes a JOB, or list, verify, prune, restore", ctx
            )
        at = 0
        while at < len(args) and args[at].partition("=")[0] in _BEFORE:
            at += 1 if "=" in args[at] else _BEFORE[args[at]]
        if at < len(args) and args[at] in self.commands:
            args = [args[at], *args[:at], *args[at + 1 :]]
        elif args and args[0] not in ctx.help_option_names:
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group("checkpoints", cls=Words)
def command() -> None:
    """The checkpoints of a job: list, verify, prune, restore. A job's name alone lists them.

    Each takes --json and --root.
    """


@command.command("list")
@job_argument
@root_option
@json_option
@click.pass_context
def _list(ctx: click.Context, job: str, root: str | None, as_json: bool) -> int:
    """The checkpoints of a job, newest first."""
    answer = checkpoints_view(_job(ctx, job, root))
    out_json(answer) if as_json else out(view.checkpoints(answer))
    return 0


@command.command("verify")
@click.argument("path")
@root_option
@json_option
def _verify(path: str, root: str | None, as_json: bool) -> int:
    """Read every byte below the folder of a checkpoint, of a job or of a root.

    Exit 1 if anything is wrong.
    """
    answer = verify_view(path)
    out_json(answer) if as_json else out(view.verified(answer))
    return 0 if answer["verified"] else 1


@command.command("prune")
@job_argument
@click.option("--keep", type=click.IntRange(1), metavar="N", help="Keep the newest N. [job file]")
@click.option("--step", "steps", type=click.IntRange(0), multiple=True, metavar="N", help="This.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and leave it.")
@root_option
@json_option
@click.pass_context
def _prune(
    ctx: click.Context,
    job: str,
    keep: int | None,
    steps: tuple[int, ...],
    dry_run: bool,
    root: str | None,
    as_json: bool,
) -> int:
    """Delete old checkpoints of a job, also while it runs: all but the newest, or given steps.

    The newest committed one stays, and the one that the present attempt began from. While the
    job runs, what goes is marked first and deleted when no rank can be reading it.
    """
    if keep is not None and steps:
        raise click.UsageError("--keep and --step exclude each other", ctx)
    from phalanx.app.prune import Wish, prune_view

    found = _job(ctx, job, root)
    answer = prune_view(
        found, Wish(steps, keep), dry_run=dry_run, tell=lambda text: note(f"phalanx: {text}")
    )
    out_json(answer) if as_json else out(view.pruned(answer))
    return 0


@command.command("restore")
@job_argument
@click.option("--to", required=True, metavar="FOLDER", help="New folder, outside of the root.")
@click.option("--step", type=click.IntRange(0), metavar="N", help="This step. [newest]")
@click.option("--checkpoint", "name", metavar="NAME", help="This checkpoint. [newest]")
@click.option(
    "--format",
    "formats",
    type=click.Choice(["safetensors", "torch"]),
    multiple=True,
    help="What to write; may be given twice. [safetensors]",
)
@root_option
@json_option
@click.pass_context
def _restore(ctx: click.Context, /, job: str, to: str, root: str | None, **words: Any) -> int:
    """Write a committed checkpoint in plain form: SafeTensors and JSON, or one torch file.

    Neither phalanx nor the training script is needed to read it. Every byte is read and compared
    with its digest first.
    """
    if words["step"] is not None and words["name"] is not None:
        raise click.UsageError("--step and --checkpoint exclude each other", ctx)
    from phalanx.app.restore import restore_view

    which = words["name"] if words["step"] is None else words["step"]
    found, bar = _job(ctx, job, root), BytesBar("writing")
    try:
        answer = restore_view(found, to, which, words["formats"], bar.show)
    finally:
        bar.clear()
    out_json(answer) if words["as_json"] else out(view.restored(answer))
    return 0


def _job(ctx: click.Context, job: str, root: str | None) -> Job:
    found = api.find(job, root, starter(ctx))
    note(found.note)
    return found
