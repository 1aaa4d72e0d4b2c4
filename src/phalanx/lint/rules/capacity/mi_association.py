"""Managed Instances that are not tied to a cluster, or tasks that are not made for them."""

from __future__ import annotations

from phalanx.lint.capacity import CapacityProvider
from phalanx.lint.entity import Entity
from phalanx.lint.launch import Launcher
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="CAP013",
    slug="mi-association",
    severity="error",
    areas=("capacity", "host"),
    on=Entity,
    message="Managed Instances and the task or cluster do not go together",
    why="A Managed Instances provider exists in the one cluster that it is created with, and runs "
    "tasks whose definition lists MANAGED_INSTANCES; a launch type beside it is refused.",
    fix="Name the cluster in the provider, list MANAGED_INSTANCES in requiresCompatibilities, and "
    "start the tasks by capacityProviderStrategy alone.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_CreateCapacityProvider.html",
            "2026-07-10",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RegisterTaskDefinition.html",
            "2026-05-20",
        ),
    ),
    facts=("CMP-49", "CAP-24", "IAC-01"),
)
def mi_association(entity: Entity, world: World) -> Found:
    """A provider without a cluster; a task without the compatibility."""
    if isinstance(entity, CapacityProvider):
        if entity.is_managed_instances and not (entity.has("cluster") or entity.has("clusterName")):
            yield Hit(entity, "cluster", "A Managed Instances provider must name its cluster")
    elif isinstance(entity, Launcher):
        managed = [p for p in entity.capacity_providers if p.is_managed_instances]
        task = entity.workload
        if not managed or task is None:
            return
        types = task.launch_types
        whole = len(task.texts("requiresCompatibilities")) == len(
            task.items("requiresCompatibilities")
        )
        if types and whole and "MANAGED_INSTANCES" not in types:
            name = managed[0].name or managed[0].address
            said = ", ".join(sorted(types))
            text = f"The task is for {said}, but {name} provides Managed Instances"
            yield Hit(task, "requiresCompatibilities", text)
