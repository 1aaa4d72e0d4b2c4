"""Budgets that tell nobody, and accelerated fleets without one."""

from __future__ import annotations

from phalanx.lint.capacity import ScalingGroup
from phalanx.lint.infra import Alarm, Budget
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import has_accelerator
from phalanx.lint.world import World

_PAGE = (
    "https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-best-practices.html",
    "undated",
)


@rule(
    id="CST004",
    slug="budget-tells-nobody",
    severity="warning",
    areas=("cost",),
    on=Budget,
    message="The budget has no notification: nobody is told when it is reached",
    why="A budget alone only draws a line in a console. Forgotten cards are found at the end of "
    "the month.",
    fix="Add a notification with a threshold on actual and forecast cost, and a subscriber.",
    sources=(_PAGE,),
    guards=("GR8",),
    facts=("CST-11", "CST-08"),
)
def budget_tells_nobody(budget: Budget, world: World) -> Found:
    """Neither notifications nor subscribers."""
    if not any(budget.has(key) for key in ("notification", "notificationsWithSubscribers")):
        yield Hit(budget)


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
    sources=(_PAGE,),
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
