"""Ranks spread over zones on purpose."""

from __future__ import annotations

from phalanx.lint.launch import Launcher
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.placement.strategy_shape import strategies
from phalanx.lint.signs import trains
from phalanx.lint.world import World


@rule(
    id="GNG014",
    slug="ranks-spread-over-zones",
    severity="warning",
    areas=("gang", "placement", "efa"),
    on=Launcher,
    message="The ranks of one run are spread over Availability Zones",
    why="Spread over zones is right for services and wrong for a gang: EFA does not cross zones, "
    "and every collective then pays the way between them.",
    fix="Pin the zone (memberOf attribute:ecs.availability-zone == ...) or one subnet, and use "
    "distinctInstance for one rank on each host.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-placement-strategies.html",
            "2023-06-15",
        ),
        ("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html", "2026-07-10"),
    ),
    guards=("GR5",),
    facts=("TRN-37", "TRN-42"),
)
def ranks_spread_over_zones(launcher: Launcher, world: World) -> Found:
    """A spread by zone of a task that trains on several nodes."""
    task = launcher.task
    if task is None:
        return
    gang = task.is_multi_node and any(trains(c) or c.is_accelerated for c in task.containers)
    for item in strategies(launcher):
        field = item.text("field") or ""
        if gang and item.text("type") == "spread" and field.endswith("availability-zone"):
            yield Hit(item, "field")
