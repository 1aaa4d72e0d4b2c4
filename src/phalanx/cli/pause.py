"""`phalanx pause JOB`."""

from __future__ import annotations

from typing import Any

import click

from phalanx.app import api
from phalanx.app.rest import request_pause, until_paused
from phalanx.app.revive import revive
from phalanx.cli import view
from phalanx.cli.options import job_argument, json_option, note, out, out_json, root_option, starter


@click.command("pause")
@job_argument
@click.option("--timeout", "timeout_s", type=float, metavar="SECONDS", help="Wait no longer.")
@root_option
@json_option
@click.pass_context
def command(
    ctx: click.Context, job: str, timeout_s: float | None, root: str | None, as_json: bool
) -> int:
    """Let all ranks save the same step, release the tasks, and rest until `phalanx resume`.

    Exit 0 once it rests; 1 when it ended instead or did not rest in time (the request stays).
    """
    found = api.find(job, root, starter(ctx))
    note(found.note)
    if found.record.phase.value == "Paused" and found.record.pause is not None:
        note(f"phalanx: {found.id} is paused already")
    found = request_pause(found, reason="phalanx pause")
    note(revive(found, starter(ctx)))
    found = until_paused(found, timeout_s=timeout_s, ensure=starter(ctx))
    answer = api.status_of(found)
    rests = answer["phase"] == "Paused"
    if not rests and not found.record.phase.is_terminal:
        note(f"phalanx: {found.id} is still {answer['phase']}; the request to pause stays")
    if rests:
        note(_unsaved(answer))
    out_json(answer) if as_json else out(view.ending(answer))
    return 0 if rests else 1


def _unsaved(answer: dict[str, Any]) -> str:
    """What the ranks could not save before they ended is done again."""
    lost = answer["step"] - (answer["checkpoint"] or {"step": 0})["step"]
    if lost <= 0:
        return ""
    job, steps = answer["job"], "1 step is" if lost == 1 else f"{lost} steps are"
    return f"phalanx: {steps} not saved and will be done again (`phalanx why {job}` says why)"
