"""A gang of more nodes than its group may have."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import TaskDefinition
from phalanx.lint.world import World


@rule(
    id="CAP008",
    slug="gang-larger-than-group",
    severity="error",
    areas=("capacity", "gang"),
    on=TaskDefinition,
    message="The run has more nodes than its scaling groups may have hosts",
    why="The last ranks wait in PROVISIONING while the first ones hold their hosts: nobody makes "
    "a step, and the cards are paid for.",
    fix="Raise the largest size of the group to at least the number of nodes (and the vCPU quota "
    "with it), or run on fewer nodes.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/asg-capacity-providers.html",
            "2026-07-10",
        ),
    ),
    facts=("CAP-16", "CST-11"),
)
def gang_larger_than_group(task: TaskDefinition, world: World) -> Found:
    """Only where every launcher's providers and the groups' largest sizes are known."""
    nodes = task.least_nodes
    if not nodes or nodes < 2 or not task.launchers or not task.is_accelerated:
        return
    for launcher in task.launchers:
        providers = launcher.capacity_providers
        if not providers or len(providers) != len(launcher.strategy):
            return
        groups = [p.scaling_group for p in providers]
        sizes = [g.number("maxSize") for g in groups if g is not None]
        known = [size for size in sizes if size is not None]
        if len(known) != len(providers) or not known or not _one_task_fills(task):
            return
        if sum(known) < nodes:
            text = f"The run has {nodes} nodes, its groups at most {sum(known):g} hosts"
            yield Hit(launcher, "capacityProviderStrategy", text)


def _one_task_fills(task: TaskDefinition) -> bool:
    """No host can hold two of its tasks: host network, EFA, or more than half of the cards."""
    if task.network_mode == "host" or any(c.maps("/dev/infiniband") for c in task.containers):
        return True
    from phalanx.facts.instances import instance

    cards = sum(c.gpus or 0.0 for c in task.containers)
    rows = [instance(name) for name in task.instance_types]
    return bool(rows) and all(row is not None and cards * 2 > row.gpus for row in rows)
