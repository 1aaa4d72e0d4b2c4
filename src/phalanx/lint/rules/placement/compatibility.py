"""A task on capacity that it does not say it can run on."""

from __future__ import annotations

from phalanx.lint.infra import Cluster, ClusterProviders
from phalanx.lint.launch import Launcher
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="PLC002",
    slug="compatibility-not-of-capacity",
    severity="error",
    areas=("placement", "host"),
    on=Launcher,
    message="The task definition does not say that it can run on this capacity",
    why="A task definition runs on Fargate or on Managed Instances only when it names them in "
    "requiresCompatibilities; the launch is refused.",
    fix="Launch it on a capacity provider that fits, or register the task definition for this "
    "capacity. A task that wants an accelerator can never run on Fargate.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RunTask.html",
            "2026-05-20",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RegisterTaskDefinition.html",
            "2026-07-10",
        ),
    ),
    guards=("GR1",),
    facts=("CMP-49", "TRN-14"),
)
def compatibility_not_of_capacity(launcher: Launcher, world: World) -> Found:
    """Fargate and Managed Instances; which launch types the task names must be known."""
    task = launcher.task
    if task is None or not task.launch_types:
        return
    said = ", ".join(sorted(task.launch_types))
    path = "launchType" if launcher.launch_type else "capacityProviderStrategy"
    if (launcher.is_fargate or _by_default(launcher, world)) and "FARGATE" not in task.launch_types:
        yield Hit(launcher, path, f"A task for {said} is launched on Fargate")
    elif "MANAGED_INSTANCES" not in task.launch_types:
        managed = [p for p in launcher.capacity_providers if p.is_managed_instances]
        if managed:
            yield Hit(launcher, path, f"A task for {said} is launched on Managed Instances")


def _by_default(launcher: Launcher, world: World) -> bool:
    """Nothing is said at the launch, and the cluster's own strategy is Fargate."""
    cluster = launcher.cluster
    if cluster is None or launcher.has("launchType") or launcher.has("capacityProviderStrategy"):
        return False
    apart = [
        other
        for other in world.near(launcher, ClusterProviders)
        if world.link(other, other.raw("cluster"), Cluster) is cluster
    ]
    items = [i for node in (cluster, *apart) for i in node.items("defaultCapacityProviderStrategy")]
    names = [item.text("capacityProvider") or "" for item in items]
    return bool(names) and all(name.startswith("FARGATE") for name in names)
