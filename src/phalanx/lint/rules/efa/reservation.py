"""A placement group against a reservation."""

from __future__ import annotations

from phalanx.lint.capacity import ScalingGroup
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_SPEC = "capacityReservationSpecification"


@rule(
    id="EFA008",
    slug="placement-group-against-reservation",
    severity="warning",
    areas=("efa", "capacity"),
    on=ScalingGroup,
    message="A cluster placement group together with a targeted capacity reservation",
    why="A reservation holds capacity for a placement group only if it was made in that group; "
    "otherwise launches into the group do not use it and end in insufficient capacity.",
    fix="Make the reservation in the same placement group (placementGroupArn), or leave the group "
    "out. A Capacity Block needs no placement group: its instances are close already.",
    sources=(
        (
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html",
            "undated",
        ),
        (
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-how.html",
            "2026-07-10",
        ),
    ),
    guards=("GR5",),
    facts=("TRN-42", "CAP-37", "CAP-46"),
)
def placement_group_against_reservation(group: ScalingGroup, world: World) -> Found:
    """Targets and reservation-only launches; with a Capacity Block an info."""
    template, placement = group.launch_template, group.placement_group
    if template is None or placement is None or not placement.is_cluster:
        return
    path = "placementGroup" if group.has("placementGroup") else ""
    node = group if path else template
    path = path or "placement.groupName"
    if template.market == "capacity-block":
        yield Hit(node, path, "A Capacity Block needs no placement group", severity="info")
        return
    only = template.text(f"{_SPEC}.capacityReservationPreference") == "capacity-reservations-only"
    if only or template.has(f"{_SPEC}.capacityReservationTarget"):
        yield Hit(node, path)
