"""A run of several nodes in bridge mode."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import serves
from phalanx.lint.workload import TaskDefinition
from phalanx.lint.world import World


@rule(
    id="NCC003",
    slug="nccl-bridge-mode",
    severity="error",
    areas=("nccl", "gang"),
    on=TaskDefinition,
    message="The ranks of a run of several nodes sit behind Docker's bridge",
    why="In bridge mode a container knows only its address behind the host's NAT. NCCL and Gloo "
    "hand that address to the peers on other hosts, which cannot reach it.",
    fix="Set networkMode to host (or awsvpc, with the EFA devices mapped).",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-networking.html",
            "2026-07-10",
        ),
        ("https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html", "undated"),
    ),
    guards=("GR5",),
    facts=("TRN-47", "TRN-65"),
)
def nccl_bridge_mode(task: TaskDefinition, world: World) -> Found:
    """bridge, or nothing said, which means bridge on EC2: then a warning."""
    mode = task.network_mode
    if (mode != "bridge" and (mode or task.has("networkMode"))) or "FARGATE" in task.launch_types:
        return
    nodes = task.nodes or 0
    for container in task.containers:
        if container.is_accelerated and nodes > 1 and not serves(container):
            severity = "" if mode == "bridge" else "warning"
            said = "bridge mode" if mode else "no network mode, which means bridge"
            yield Hit(task, "networkMode", f"{nodes} nodes with {said}", severity=severity)
            return
