"""`phalanx rm JOB...`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from phalanx.app.remove import Onlooker, Sweepers, remove_view
from phalanx.app.root import open_root
from phalanx.cli import view
from phalanx.cli.options import complete_ended, json_option, out, out_json, root_option, starter
from phalanx.cli.waiting import Waiting


@click.command("rm")
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...", shell_complete=complete_ended)
@root_option
@json_option
@click.pass_context
def command(ctx: click.Context, jobs: tuple[str, ...], root: str | None, as_json: bool) -> int:
    """Remove jobs that have ended, with their checkpoints, logs and files.

    JOB is a whole id. A job that has not ended, or that another one needs, is refused; none is
    removed then. To keep the weights: `phalanx checkpoints restore` first.
    """
    waiting = Waiting(root, "nothing was removed")

    def work() -> int:
        by = Sweepers(starter(ctx), onlooker=_Told(waiting, jobs))
        answer = remove_view(open_root(root), jobs, by)
        out_json(answer) if as_json else out(_text(answer))
        return 0

    return waiting.run(work)


class _Told(Onlooker):
    """Tells a terminal, and keeps what is to be said to whoever interrupts."""

    def __init__(self, waiting: Waiting, jobs: Sequence[str]) -> None:
        self._waiting = waiting
        self._left = list(dict.fromkeys(jobs))
        self._gone: list[str] = []

    def check(self) -> None:
        self._waiting.check()

    def says(self, text: str) -> None:
        self._waiting.say(text)

    def removed(self, job: str) -> None:
        self._gone.append(job)
        self._left.remove(job)
        stays = f"; {', '.join(self._left)} stay as they were" if self._left else ""
        self._waiting.state = f"removed {', '.join(self._gone)}{stays}"


def _text(answer: view.View) -> str:
    lines = [
        f"removed {one['job']} ({one['phase']}), {view.size(one['bytes'])} freed"
        for one in answer["removed"]
    ]
    if len(lines) > 1:
        lines.append(f"{view.size(answer['bytes'])} freed in all")
    return "\n".join(lines)
