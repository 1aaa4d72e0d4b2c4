"""Runs that outlive a Managed Instance."""

from __future__ import annotations

from phalanx.facts.rows import settled
from phalanx.lint.entity import Node
from phalanx.lint.infra import ComputeEnvironment
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import JobDefinition, Workload
from phalanx.lint.world import World

_NAME = Pattern(
    r"(?:RUN_?TIME|DURATION|WALL_?(?:TIME|CLOCK)|TIME_LIMIT|MAX_RUN)_?(?:LIMIT_?)?"
    r"_(DAYS?|HOURS?|H|HRS?|SECONDS|SECS?|S)$"
)
_HOURS = {"D": 24.0, "H": 1.0, "S": 1 / 3600}


@rule(
    id="CAP014",
    slug="long-run-on-managed-instances",
    severity="warning",
    areas=("capacity",),
    on=Workload,
    message="The run outlives a Managed Instance",
    why="Managed Instances begin to drain a host 14 days after launch and end it by day 21, "
    "whatever runs on it.",
    fix="Resume from checkpoints without a person, and set a maintenance window; or run on EC2 "
    "hosts of your own or a Capacity Block.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/managed-instances-patching.html",
            "2026-07-10",
        ),
    ),
    facts=("CMP-54", "CMP-55", "CMP-10"),
)
def long_run_on_managed_instances(workload: Workload, world: World) -> Found:
    """A stated length of 14 days or more, where the task runs on Managed Instances alone."""
    if not _is_managed(workload, world):
        return
    days = settled("mi.drain-starts-days")
    for node, hours in _lengths(workload):
        if hours >= days * 24:
            text = f"The run takes {hours:g} h; hosts begin to drain after {days} days"
            yield Hit(node, message=text)


def _is_managed(workload: Workload, world: World) -> bool:
    if isinstance(workload, JobDefinition):
        kinds = [
            e.text("computeResources.type") or "" for e in world.near(workload, ComputeEnvironment)
        ]
        return bool(kinds) and all("MANAGED_INSTANCES" in kind for kind in kinds)
    providers = workload.providers
    if providers:
        return all(p.is_managed_instances for p in providers)
    return workload.launch_types == {"MANAGED_INSTANCES"}


def _lengths(workload: Workload) -> list[tuple[Node, float]]:
    found: list[tuple[Node, float]] = []
    for container in workload.containers:
        for variable in container.environment.variables:
            match = _NAME.search(variable.key.upper())
            count = variable.value.number() if match else None
            if match and count is not None:
                found.append((variable, count * _HOURS[match[1][0]]))
    limit = workload.number("timeout.attemptDurationSeconds")
    if limit is not None:
        found.append((workload.node("timeout.attemptDurationSeconds"), limit / 3600))
    return found
