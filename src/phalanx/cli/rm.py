"""`phalanx rm JOB...`."""

from __future__ import annotations

import click

from phalanx.app.remove import Sweepers, remove_view
from phalanx.app.root import open_root
from phalanx.cli import view
from phalanx.cli.options import complete_ended, json_option, out, out_json, root_option, starter


@click.command("rm")
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...", shell_complete=complete_ended)
@root_option
@json_option
@click.pass_context
def command(ctx: click.Context, jobs: tuple[str, ...], root: str | None, as_json: bool) -> None:
    """Remove jobs that have ended, with their checkpoints, logs and files.

    JOB is a whole id. A job that has not ended, or that another one needs, is refused; none is
    removed then. To keep the weights: `phalanx checkpoints restore` first.
    """
    answer = remove_view(open_root(root), jobs, Sweepers(starter(ctx)))
    out_json(answer) if as_json else out(_text(answer))


def _text(answer: view.View) -> str:
    lines = [
        f"removed {one['job']} ({one['phase']}), {view.size(one['bytes'])} freed"
        for one in answer["removed"]
    ]
    if len(lines) > 1:
        lines.append(f"{view.size(answer['bytes'])} freed in all")
    return "\n".join(lines)
