"""One rank number for many tasks."""

from __future__ import annotations

from phalanx.lint.launch import EventTarget, Launcher, RunTask, Service
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_RANKS = ("NODE_RANK", "GROUP_RANK", "RANK", "MACHINE_RANK")
_FLAG = Pattern(r"--(?:node|machine)[-_]rank[=\s]+[\"']?\d+")


@rule(
    id="GNG013",
    slug="same-rank-for-many-tasks",
    severity="error",
    areas=("gang",),
    on=Launcher,
    message="Several tasks of one launch get the same rank",
    why="All tasks of a call, or of a service, share one environment: each of them claims the "
    "same rank, and the rendezvous fails or hangs.",
    fix="Launch one task for each rank with its own override, or use a rendezvous that hands out "
    "ranks (torchrun --rdzv-backend c10d, without --node-rank).",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RunTask.html",
            "2026-05-20",
        ),
        ("https://docs.pytorch.org/docs/stable/elastic/run.html", "undated"),
    ),
    facts=("TRN-01", "TRN-53", "TRN-55"),
)
def same_rank_for_many_tasks(launcher: Launcher, world: World) -> Found:
    """Literal ranks in overrides or the task definition, where more than one task starts."""
    path = {RunTask: "count", Service: "desiredCount", EventTarget: "taskCount"}[type(launcher)]
    if (launcher.number(path) or 0) < 2:
        return
    overridden: set[str] = set()
    for override in launcher.items("overrides.containerOverrides"):
        for pair in override.items("environment"):
            name, value = pair.text("name") or "", pair.text("value") or ""
            overridden.add(name)
            if name in _RANKS and value.isdigit():
                yield Hit(pair, message=f"{name}={value} for {launcher.number(path):g} tasks")
                return
    for container in launcher.workload.containers if launcher.workload else ():
        for name in _RANKS:
            variable = container.environment.get(name)
            if variable and name not in overridden and (variable.content or "").isdigit():
                yield Hit(launcher, path, f"All tasks get {name}={variable.content}")
                return
        if _FLAG.search(container.command.text) and container.workload.nodes != 1:
            yield Hit(launcher, path, "All tasks get the node rank of the command")
            return
