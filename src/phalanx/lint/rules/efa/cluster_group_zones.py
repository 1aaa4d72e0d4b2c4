"""A cluster placement group over several zones."""

from __future__ import annotations

from phalanx.lint.capacity import ScalingGroup
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="EFA003",
    slug="cluster-pg-multi-az",
    severity="error",
    areas=("efa", "capacity"),
    on=ScalingGroup,
    message="A cluster placement group is given subnets in more than one zone",
    why="A cluster placement group, and EFA traffic, live in one zone: launches in the others "
    "fail, and mixed zones make collectives slow or break EFA.",
    fix="Pin one subnet, and keep the checkpoint file system in the same zone. For more zones, "
    "make one scaling group and one placement group for each.",
    sources=(
        (
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html",
            "2026-07-10",
        ),
        ("https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html", "undated"),
    ),
    guards=("GR5",),
    facts=("TRN-42", "TRN-43"),
)
def cluster_pg_multi_az(group: ScalingGroup, world: World) -> Found:
    """Only where the zones of all subnets are known to differ."""
    placement = group.placement_group
    zones = group.zones
    if placement is None or not placement.is_cluster or zones is None or len(zones) < 2:
        return
    path = "availabilityZones" if group.has("availabilityZones") else "vpcZoneIdentifier"
    yield Hit(
        group,
        path,
        f"Cluster placement group {placement.name or placement.address} is stretched over "
        f"{len(zones)} zones",
    )
