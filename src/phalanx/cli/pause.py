"""`phalanx pause JOB`."""

from __future__ import annotations

from typing import Any

import click

from phalanx.app import api
from phalanx.app.jobs import Job
from phalanx.app.notices import unsaved
from phalanx.app.rest import request_pause, until_paused, why_not_paused
from phalanx.app.revive import Ensure, revive
from phalanx.cli import view
from phalanx.cli.options import job_argument, json_option, note, out, out_json, root_option, starter
from phalanx.cli.waiting import Waiting


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

    Exit 0 once it rests and nothing of it is left on this machine; 1 when it ended instead, was
    let go on by somebody, or did not rest in time (the request stays).
    """
    waiting = Waiting(root, f"nothing was asked of {job}")

    def work() -> int:
        found = _until_paused(api.find(job, root, starter(ctx)), timeout_s, starter(ctx), waiting)
        answer = api.status_of(found)
        rests = answer["phase"] == "Paused"
        note(_unsaved(found, answer) if rests else f"phalanx: {why_not_paused(found)}")
        out_json(answer) if as_json else out(view.ending(answer))
        return 0 if rests else 1

    return waiting.run(work)


def _until_paused(found: Job, timeout_s: float | None, ensure: Ensure, waiting: Waiting) -> Job:
    note(found.note)
    if found.record.phase.value == "Paused" and found.record.pause is not None:
        note(f"phalanx: {found.id} is paused already")
    found = request_pause(found, reason="phalanx pause")
    waiting.state = (
        f"the request to pause {found.id} is recorded and goes on; `phalanx status"
        f" {found.id}{waiting.where}` shows it, `phalanx resume {found.id}{waiting.where}` takes"
        " it back"
    )
    note(revive(found, ensure))
    return until_paused(found, waiting.see, timeout_s=timeout_s, ensure=ensure)


def _unsaved(found: Job, answer: dict[str, Any]) -> str:
    """What the ranks could not save before they ended is done again."""
    if found.record.plan.checkpoint.mode == "watch":  # its steps are commits: none is ever lost
        said = unsaved(found, "pause")
        return f"phalanx: {said}" if said else ""
    lost = answer["step"] - (answer["checkpoint"] or {"step": 0})["step"]
    if lost <= 0:
        return ""
    job, steps = answer["job"], "1 step is" if lost == 1 else f"{lost} steps are"
    return f"phalanx: {steps} not saved and will be done again (`phalanx why {job}` says why)"
