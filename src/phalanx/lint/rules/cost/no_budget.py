"""Accelerated fleets without a budget."""

from __future__ import annotations

from phalanx.lint.capacity import ScalingGroup
from phalanx.lint.infra import Alarm, Budget
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.cost.budget import PAGE
from phalanx.lint.signs import has_accelerator
from phalanx.lint.world import World


@rule(
    id="CST005",
    slug="no-budget-alarm",
    severity="info",
    areas=("cost",),
    on=ScalingGroup,
    message="Alarms are declared beside accelerated hosts, but no budget",
    why="A stuck gang or a forgotten service costs as much as one that works; only a budget "
    "notices it by its cost.",
    fix="Add a budget with a notification, filtered by the tag of the fleet (unless another "
    "account or stack watches the cost).",
    sources=(PAGE,),
    facts=("CST-11", "CST-17"),
)
def no_budget_alarm(group: ScalingGroup, world: World) -> Found:
    """Once for a world: at its first accelerated group, where alarms say that it would hold one."""
    if not has_accelerator(group.instance_types) or not world.near(group, Alarm):
        return
    groups = [g for g in world.near(group, ScalingGroup) if has_accelerator(g.instance_types)]
    if groups[0] is not group or world.near(group, Budget):
        return
    billing = [a for a in world.near(group, Alarm) if a.text("metricName") == "EstimatedCharges"]
    if not billing:
        yield Hit(group)
