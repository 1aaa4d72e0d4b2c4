"""Groups of accelerated hosts that never go down to zero."""

from __future__ import annotations

from phalanx.lint.capacity import ScalingGroup
from phalanx.lint.launch import Service
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import has_accelerator
from phalanx.lint.world import World

_STATUS = "autoScalingGroupProvider.managedScaling.status"


@rule(
    id="CST002",
    slug="idle-scaling-floor",
    severity="info",
    areas=("cost", "capacity"),
    on=ScalingGroup,
    message="The group never goes below its smallest size, whether its hosts are used or not",
    why="Managed scaling removes empty hosts after about 15 minutes, but never below the smallest "
    "size of the group: those cards are paid for around the clock.",
    fix="Set the smallest size to 0 for training and development, and keep a floor only where a "
    "service must start at once (a warm pool is cheaper than running hosts).",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/asg-capacity-providers.html",
            "2026-07-10",
        ),
    ),
    facts=("CAP-16", "CST-05", "CAP-08"),
)
def idle_scaling_floor(group: ScalingGroup, world: World) -> Found:
    """Accelerated groups behind a provider; not blocks, and not those with a balanced service."""
    least = group.number("minSize")
    if not least or not has_accelerator(group.instance_types) or not group.capacity_providers:
        return
    template = group.launch_template
    if template is not None and template.market == "capacity-block":
        return
    for service in world.near(group, Service):
        if any(p.scaling_group is group for p in service.capacity_providers) and service.has(
            "loadBalancers"
        ):
            return
    yield Hit(group, "minSize", f"At least {least:g} accelerated hosts run, used or not")
