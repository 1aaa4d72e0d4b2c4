"""Weights in a scaling group behind a capacity provider."""

from __future__ import annotations

from phalanx.lint.capacity import ScalingGroup
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

PAGE = "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/asg-capacity-providers.html"


@rule(
    id="CAP001",
    slug="asg-weights-with-capacity-provider",
    severity="error",
    areas=("capacity",),
    on=ScalingGroup,
    message="A scaling group behind a capacity provider has instance weights",
    why="Capacity providers do not support weighted groups: managed scaling counts instances, "
    "weights count something else, and the group grows wrongly or not at all.",
    fix="Remove the weights. Use one group and one capacity provider for each GPU type, joined by "
    "a capacity provider strategy.",
    sources=((PAGE, "2026-07-10"),),
    guards=("GR2",),
    facts=("CAP-02",),
)
def asg_weights_with_capacity_provider(group: ScalingGroup, world: World) -> Found:
    """Any override with a weight, where a capacity provider uses the group."""
    if not group.capacity_providers:
        return
    if any(override.has("weightedCapacity") for override in group.overrides):
        yield Hit(group, "mixedInstancesPolicy")
