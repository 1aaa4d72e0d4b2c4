"""Capacity Blocks that the launch template does not name."""

from __future__ import annotations

from phalanx.facts.instances import instance
from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_TARGET = "capacityReservationSpecification.capacityReservationTarget"


@rule(
    id="CAP015",
    slug="capacity-block-not-targeted",
    severity="error",
    areas=("capacity",),
    on=LaunchTemplate,
    message="The market type is capacity-block, but no reservation is named",
    why="A Capacity Block is a targeted reservation: instances reach it only when its id stands "
    "beside the market type. The launch fails, while the block is paid for.",
    fix="Set capacityReservationSpecification.capacityReservationTarget.capacityReservationId to "
    "the block, and use a subnet of its zone.",
    sources=(
        (
            "https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-template-capacity-blocks.html",
            "2026-07-10",
        ),
        (
            "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html",
            "undated",
        ),
    ),
    facts=("CAP-37", "CAP-43", "CAP-39"),
)
def capacity_block_not_targeted(template: LaunchTemplate, world: World) -> Found:
    """No target in the template or its groups; or a G type, for which there are no blocks."""
    if template.market != "capacity-block":
        return
    row = instance(template.instance_type or "")
    if row is not None and row.family.startswith(("g4", "g5", "g6", "gr6")):
        yield Hit(template, "instanceType", f"There are no Capacity Blocks for {row.name}")
    groups = template.scaling_groups
    elsewhere = any(group.has("capacityReservationSpecification") for group in groups)
    if not template.has(_TARGET) and not elsewhere:
        yield Hit(template, _TARGET if template.has(_TARGET) else "instanceMarketOptions")
