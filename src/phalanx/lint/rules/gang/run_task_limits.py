"""RunTask and StartTask inputs beyond their limits."""

from __future__ import annotations

import json
from collections.abc import Iterator

from phalanx.facts.rows import settled
from phalanx.lint.launch import RunTask
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.values import HOLE
from phalanx.lint.world import World

_API = "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/"
_TOKEN_MAX = 64
_LISTS = (("placementConstraints", 10), ("placementStrategy", 5), ("containerInstances", 10))


@rule(
    id="GNG012",
    slug="run-task-limits",
    severity="error",
    areas=("gang", "placement"),
    on=RunTask,
    message="The call is beyond a limit of RunTask or StartTask",
    why="One call starts at most 10 tasks, and its texts have fixed lengths; the whole call is "
    "refused. A gang of more than 10 needs several calls, and a look at failures after each.",
    fix="Split the gang into calls of at most 10 tasks with one clientToken each, and keep "
    "startedBy to 36 characters.",
    sources=(
        (_API + "API_RunTask.html", "2026-05-20"),
        (_API + "API_StartTask.html", "2026-05-20"),
    ),
    facts=("TRN-07", "TRN-08", "TRN-09", "TRN-11", "TRN-13", "TRN-15"),
)
def run_task_limits(run: RunTask, world: World) -> Found:
    """Counts, lengths and the size of overrides, as far as they are known."""
    for path, message in _beyond(run):
        yield Hit(run, path, message)


def _beyond(run: RunTask) -> Iterator[tuple[str, str]]:
    count, most = run.number("count"), settled("runtask.max-count")
    if count is not None and count > most:
        yield "count", f"{count:g} tasks in one call; at most {most} are allowed"
    for path, most in _LISTS:
        if len(run.items(path)) > most:
            yield path, f"{len(run.items(path))} entries in {path}; at most {most} are allowed"
    lengths = settled("runtask.started-by-max")
    started = lengths["StartTask" if run.is_start_task else "RunTask"]
    for path, most in (("startedBy", started), ("clientToken", _TOKEN_MAX)):
        text = run.text(path) or ""
        if len(text) > most and HOLE not in text:
            yield path, f"{path} has {len(text)} characters; at most {most} are allowed"
    if run.text("propagateTags") == "SERVICE":
        yield "propagateTags", "propagateTags SERVICE belongs to services"
    size, most = _size(run.raw("overrides")), settled("runtask.overrides-max")
    if size > most:
        yield "overrides", f"overrides have {size} characters; at most {most} are allowed"


def _size(value: object) -> int:
    try:
        return len(json.dumps(value, separators=(",", ":"))) if value else 0
    except TypeError:
        return 0
