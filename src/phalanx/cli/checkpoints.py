"""`phalanx checkpoints [list] JOB` and `phalanx checkpoints verify PATH`."""

from __future__ import annotations

import click

from phalanx.app import api
from phalanx.app.checkpoints import checkpoints_view, verify_view
from phalanx.cli import view
from phalanx.cli.options import complete_job, json_option, note, out, out_json, root_option, starter

_VERBS = ("list", "verify")
_LATER = ("restore", "prune")
"""Words kept free for verbs of a later release: no job can have such a name."""


@click.command("checkpoints")
@click.argument("words", nargs=-1, required=True, shell_complete=complete_job)
@root_option
@json_option
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...], root: str | None, as_json: bool) -> int:
    """`[list] JOB`: the checkpoints of a job. `verify PATH`: read every byte of one.

    `verify` takes the folder of a checkpoint and exits 1 if anything is wrong.
    """
    if words[0] in _LATER:
        raise click.UsageError("this release has `checkpoints list` and `verify` only", ctx)
    verb, rest = (words[0], words[1:]) if words[0] in _VERBS else ("list", words)
    if len(rest) != 1:
        what = "PATH" if verb == "verify" else "JOB"
        raise click.UsageError(f"`checkpoints {verb}` takes one {what}", ctx)
    if verb == "verify":
        answer = verify_view(rest[0])
        out_json(answer) if as_json else out(view.verified(answer))
        return 0 if answer["verified"] else 1
    found = api.find(rest[0], root, starter(ctx))
    note(found.note)
    answer = checkpoints_view(found)
    out_json(answer) if as_json else out(view.checkpoints(answer))
    return 0
