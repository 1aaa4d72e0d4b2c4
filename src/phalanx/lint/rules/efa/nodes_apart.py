"""EFA nodes that are not kept close."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate, ScalingGroup
from phalanx.lint.hosts import otherwise_set
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="EFA007",
    slug="efa-nodes-apart",
    severity="warning",
    areas=("efa", "capacity"),
    on=ScalingGroup,
    message="EFA nodes without a cluster placement group in one zone",
    why="EFA does not cross zones, and without a cluster placement group the nodes of a run may "
    "stand far apart: collectives slow down or fall back to TCP.",
    fix="Give the group one subnet and a placement group with strategy cluster. (Instances of a "
    "Capacity Block are close together already.)",
    sources=(
        ("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html", "2026-07-10"),
        (
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html",
            "2026-05-20",
        ),
    ),
    guards=("GR5",),
    facts=("TRN-42", "TRN-43"),
)
def efa_nodes_apart(group: ScalingGroup, world: World) -> Found:
    """Groups of more than one host, whose template attaches EFA."""
    template = group.launch_template
    if template is None or not template.efa_interfaces or group.number("maxSize") in (0, 1):
        return
    placement = group.placement_group
    if placement is not None and placement.is_cluster:
        return
    if placement is not None:
        strategy = placement.text("strategy")
        if strategy:
            yield Hit(placement, "strategy", f"Strategy {strategy}: only cluster serves EFA")
        return
    if _in_block(template) or otherwise_set(template, "placement.groupName", world):
        return
    if otherwise_set(group, "placementGroup", world):
        return
    zones = group.zones or ()
    if len(zones) > 1:
        path = "availabilityZones" if group.has("availabilityZones") else "vpcZoneIdentifier"
        yield Hit(group, path, f"EFA nodes are spread over {len(zones)} zones")
    else:
        yield Hit(group, "placementGroup")


def _in_block(template: LaunchTemplate) -> bool:
    if template.market == "capacity-block":
        return True
    return template.market is None and template.has("instanceMarketOptions")
