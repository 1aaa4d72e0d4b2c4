"""Many nodes, hosts with EFA, and nothing that uses it."""

from __future__ import annotations

from phalanx.lint.hosts import allowed
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import serves, uses_efa
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="EFA011",
    slug="multi-node-without-efa",
    severity="warning",
    areas=("efa", "nccl"),
    on=Container,
    message="A run of several nodes maps no EFA device, although the type has EFA",
    why="Without the uverbs devices NCCL talks over TCP. The interface of an awsvpc task is an "
    "ordinary one and never an EFA device, whatever the host has.",
    fix="Attach EFA interfaces in the launch template, map the uverbs devices, unlock memory, and "
    "keep the nodes in one cluster placement group.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-networking.html",
            "2026-07-10",
        ),
        ("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start-nccl.html", "2026-07-10"),
    ),
    guards=("GR5",),
    facts=("TRN-47", "TRN-44"),
)
def multi_node_without_efa(container: Container, world: World) -> Found:
    """Types built for many nodes (P, Trn) are warnings, others an info."""
    workload = container.workload
    if workload.flavour not in ("ecs", "batch") or not container.is_accelerated:
        return
    rows = allowed(container)
    if not workload.is_multi_node or serves(container) or container.is_privileged:
        return
    if not rows or not all(row.efa for row in rows) or uses_efa(container):
        return
    if container.devices_known and container.environment.is_known:
        large = all(row.family.startswith(("p", "trn")) for row in rows)
        message = f"{rows[0].name} has EFA (interfaces: {rows[0].efa}), and none is mapped"
        path = "linuxParameters.devices"
        yield Hit(container, path, message, severity="" if large else "info")
