"""A Capacity Block group over several zones."""

from __future__ import annotations

from phalanx.lint.capacity import ScalingGroup
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="CAP017",
    slug="capacity-block-in-several-zones",
    severity="warning",
    areas=("capacity",),
    on=ScalingGroup,
    message="The group of a Capacity Block spans several zones",
    why="A block lies in one zone. In any other zone the launch fails, and Auto Scaling keeps "
    "trying to balance the zones.",
    fix="Give the group only the subnet of the block's zone, and put FSx there as well.",
    sources=(
        (
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html",
            "2026-07-10",
        ),
    ),
    facts=("CAP-37",),
)
def capacity_block_in_several_zones(group: ScalingGroup, world: World) -> Found:
    """Only where the zones are known to differ."""
    template = group.launch_template
    zones = group.zones
    if template is None or template.market != "capacity-block" or zones is None:
        return
    if len(zones) > 1:
        path = "vpcZoneIdentifier" if group.has("vpcZoneIdentifier") else "availabilityZones"
        yield Hit(group, path, f"A Capacity Block lies in one zone, the group in {len(zones)}")
