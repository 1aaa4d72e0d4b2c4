"""Tasks without a capacity provider strategy beside capacity providers."""

from __future__ import annotations

from phalanx.lint.capacity import CapacityProvider
from phalanx.lint.infra import Cluster, ClusterProviders
from phalanx.lint.launch import EventTarget, Launcher, RunTask, Service
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_DEFAULT = "defaultCapacityProviderStrategy"


@rule(
    id="CAP009",
    slug="no-capacity-provider-strategy",
    severity="warning",
    areas=("capacity",),
    on=Launcher,
    message="Tasks are started without a strategy, so the capacity provider never grows for them",
    why="Without a strategy of its own and without a default strategy of the cluster, a task runs "
    "with launch type EC2: it never waits in PROVISIONING, never makes a provider scale out, and "
    "fails at once where no host is free.",
    fix="Add capacityProviderStrategy to the service or RunTask call, or a default strategy to the "
    "cluster.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/managed-scaling-behavior.html",
            "2026-05-20",
        ),
    ),
    facts=("CAP-12",),
)
def no_capacity_provider_strategy(launcher: Launcher, world: World) -> Found:
    """Where the cluster and its providers are in the world, and no default is."""
    if launcher.has("launchType") or launcher.has("capacityProviderStrategy"):
        return
    if isinstance(launcher, RunTask) and launcher.is_start_task:
        return
    if isinstance(launcher, Service) and launcher.is_daemon:
        return
    if isinstance(launcher, EventTarget) and launcher.cluster is None:
        return
    task = launcher.workload
    if task is None or not task.is_accelerated or not world.near(launcher, CapacityProvider):
        return
    holders = [*world.near(launcher, Cluster), *world.near(launcher, ClusterProviders)]
    if not holders or any(holder.has(_DEFAULT) for holder in holders):
        return
    yield Hit(launcher, "capacityProviderStrategy")
