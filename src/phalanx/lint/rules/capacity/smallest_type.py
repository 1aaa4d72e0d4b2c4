"""Tasks that fit the largest type of a group, but not the smallest."""

from __future__ import annotations

from phalanx.facts.instances import instance
from phalanx.lint.capacity import ScalingGroup
from phalanx.lint.launch import Launcher
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Workload
from phalanx.lint.world import World


@rule(
    id="CAP007",
    slug="task-does-not-fit-smallest-type",
    severity="warning",
    areas=("capacity", "placement"),
    on=ScalingGroup,
    message="A task does not fit the smallest type of the group, so the group never grows for it",
    why="Managed scaling plans with the smallest type of the group. What does not fit it is left "
    "out: CapacityProviderReservation stays at 100, no alarm fires, and the task waits for ever.",
    fix="Keep types of one size in a group: one group and one capacity provider for each GPU type.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/managed-scaling-behavior.html",
            "2026-07-10",
        ),
    ),
    guards=("GR2",),
    facts=("CAP-03", "CAP-05"),
)
def task_does_not_fit_smallest_type(group: ScalingGroup, world: World) -> Found:
    """GPUs, memory and vCPUs of tasks on its providers, against every known type."""
    rows = [instance(name) for name in group.instance_types]
    known = [row for row in rows if row]
    if len(known) < 2 or len(known) != len(rows):
        return
    for launcher in world.near(group, Launcher):
        task = launcher.workload
        if task is None or not any(p.scaling_group is group for p in launcher.capacity_providers):
            continue
        cards, memory = _needs(task)
        small = [r for r in known if r.gpus < cards or r.memory_mib < memory]
        if small and len(small) < len(known):
            name = task.name or task.address
            names = ", ".join(row.name for row in small)
            what = f"Task {name} ({cards:g} GPUs, {memory:g} MiB) does not fit {names}"
            yield Hit(group, "mixedInstancesPolicy", f"{what}: the group never grows for it")
            return


def _needs(task: Workload) -> tuple[float, float]:
    """(GPUs, MiB) that are certainly asked for."""
    cards = sum(c.gpus or 0.0 for c in task.containers)
    return cards, sum(c.memory_mib or 0.0 for c in task.containers)
