"""Placement rules that the API refuses."""

from __future__ import annotations

from phalanx.lint.entity import Entity, Node
from phalanx.lint.launch import Launcher
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import TaskDefinition
from phalanx.lint.world import World

_API = "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/"


@rule(
    id="PLC007",
    slug="placement-shape",
    severity="error",
    areas=("placement",),
    on=Entity,
    message="A placement rule of a form that ECS refuses",
    why="binpack knows cpu and memory only, there is no GPU field; a task definition takes "
    "memberOf constraints only, distinctInstance belongs to the launch.",
    fix="Pack on memory, keep one GPU type in a capacity provider, and give distinctInstance to "
    "RunTask or the service.",
    sources=(
        (_API + "API_PlacementStrategy.html", "2026-05-20"),
        (_API + "API_TaskDefinitionPlacementConstraint.html", "2026-05-20"),
    ),
    facts=("TRN-29", "TRN-31"),
)
def placement_shape(entity: Entity, world: World) -> Found:
    """The field of binpack, the type of a task definition's constraints."""
    if isinstance(entity, TaskDefinition):
        for constraint in entity.items("placementConstraints"):
            if constraint.text("type") == "distinctInstance":
                yield Hit(constraint, "type", "A task definition cannot ask for distinctInstance")
    elif isinstance(entity, Launcher):
        for item in strategies(entity):
            field = item.text("field")
            if item.text("type") == "binpack" and field and field.lower() not in ("cpu", "memory"):
                yield Hit(item, "field", f"binpack has no field {field}, only cpu and memory")


def strategies(launcher: Launcher) -> list[Node]:
    """Placement strategies of a launch; CloudFormation has a plural for them."""
    return launcher.items("placementStrategy") or launcher.items("placementStrategies")
