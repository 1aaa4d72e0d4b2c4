"""`phalanx exec JOB`."""

from __future__ import annotations

import sys

import click

from phalanx.app import api
from phalanx.app.inside import Choice, Door, door, enter, has_ended, stacks_view
from phalanx.app.jobs import Job
from phalanx.cli import view_stacks
from phalanx.cli.options import job_argument, json_option, note, out, out_json, root_option, starter

_KILLED = 128 + 9


class Exec(click.Command):
    """A command line that may hold another one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """An option of the other command is mistaken for ours without `--`: say so."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            said = error.format_message().rstrip(".")
            raise click.UsageError(f"{said} (write -- before the command)", ctx) from None


@click.command("exec", cls=Exec)
@job_argument
@click.option("--slot", type=int, metavar="N", help="The slot to go into. [the first]")
@click.option("--rank", type=int, metavar="R", help="The rank to look like. [the slot's first]")
@click.option("--stacks", is_flag=True, help="Show what the ranks are doing; they go on.")
@root_option
@json_option
@click.argument("words", nargs=-1, metavar="[-- COMMAND...]")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    job: str,
    words: tuple[str, ...],
    root: str | None,
    stacks: bool,
    as_json: bool,
    **choice: int | None,
) -> int:
    """A shell, or a command, where the ranks of a slot run.

    It has the slot's folder, variables and secrets, and ends with the slot's task at the latest.
    A training script that is started in it saves nothing. Exit code: the command's own; 4 when the
    slot does not run. With --stacks: the Python stacks of all ranks, equal ones together; 4 when
    none shows any.
    """
    if stacks and words:
        raise click.UsageError("--stacks takes no command", ctx)
    if as_json and not stacks:
        raise click.UsageError("--json goes with --stacks: a command prints what it likes", ctx)
    found = api.find(job, root, starter(ctx))
    note(found.note)
    if stacks:
        answer = stacks_view(found, Choice(**choice))
        out_json(answer) if as_json else out(view_stacks.stacks(answer))
        return 0
    way = door(found, Choice(**choice))
    return _enter(found, way, words)


def _enter(job: Job, way: Door, words: tuple[str, ...]) -> int:
    if not words and sys.stdin.isatty():
        note(f"phalanx: a shell in slot {way.task.slot} of {job.id}; `exit` leaves it")
    code = enter(way, words)
    if code == _KILLED and has_ended(job, way):
        note(f"phalanx: the task of slot {way.task.slot} has ended, and what ran in it with it")
    return code
