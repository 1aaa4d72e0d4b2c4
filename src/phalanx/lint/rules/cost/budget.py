"""Budgets that tell nobody."""

from __future__ import annotations

from phalanx.lint.infra import Budget
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

PAGE = (
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
    sources=(PAGE,),
    guards=("GR8",),
    facts=("CST-11", "CST-08"),
)
def budget_tells_nobody(budget: Budget, world: World) -> Found:
    """Neither notifications nor subscribers."""
    if not any(budget.has(key) for key in ("notification", "notificationsWithSubscribers")):
        yield Hit(budget)
