"""Capacity Rebalancing on a group that trains."""

from __future__ import annotations

import re

from phalanx.lint.capacity import ScalingGroup
from phalanx.lint.launch import Launcher
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import trains
from phalanx.lint.world import World

_TRAINS = Pattern(r"train|finetune|pretrain", re.IGNORECASE)


@rule(
    id="SPT004",
    slug="capacity-rebalance-on-training-group",
    severity="warning",
    areas=("spot",),
    on=ScalingGroup,
    message="Capacity Rebalancing takes hosts away from a training before Spot does",
    why="On a rebalance recommendation the group replaces a healthy host. A recommendation is no "
    "interruption: most are not followed by one, yet each ends a rank and so stops the gang.",
    fix="Switch Capacity Rebalancing off for training groups and act on the two-minute "
    "interruption notice; keep it for services, whose tasks are replaced one by one.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/container-instance-spot.html",
            "2023-06-15",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/"
            "enable-managed-instance-draining.html",
            "2026-07-10",
        ),
    ),
    guards=("GR6",),
    facts=("CAP-53", "CAP-15"),
)
def capacity_rebalance_on_training_group(group: ScalingGroup, world: World) -> Found:
    """Spot groups whose name, placement group or tasks say that they train."""
    if group.flag("capacityRebalance") is True and group.is_spot and _is_for_training(group, world):
        yield Hit(group, "capacityRebalance")


def _is_for_training(group: ScalingGroup, world: World) -> bool:
    placement = group.placement_group
    if placement is not None and placement.is_cluster:
        return True
    tasks = [
        launcher.workload
        for launcher in world.near(group, Launcher)
        if any(p.scaling_group is group for p in launcher.capacity_providers)
    ]
    known = [task for task in tasks if task is not None]
    if known:
        return any(t.is_multi_node or any(trains(c) for c in t.containers) for t in known)
    return bool(_TRAINS.search(f"{group.name or ''} {group.address}"))
