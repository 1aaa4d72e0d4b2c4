"""Multi-node Batch hosts that are not kept close."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate, PlacementGroup, Subnet
from phalanx.lint.hosts import otherwise_set
from phalanx.lint.infra import ComputeEnvironment
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_HOW = "computeResources"


@rule(
    id="EFA014",
    slug="batch-nodes-apart",
    severity="error",
    areas=("efa", "capacity"),
    on=ComputeEnvironment,
    message="A compute environment with a cluster placement group spans several zones",
    why="Nodes of a multi-node job must stand in one zone, in a cluster placement group: launches "
    "into another zone fail, and EFA does not cross zones.",
    fix="Give the compute environment one subnet and a placement group with strategy cluster; "
    "make one compute environment for each zone.",
    sources=(
        ("https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html", "undated"),
        ("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html", "2026-07-10"),
    ),
    guards=("GR5",),
    facts=("TRN-42", "TRN-43"),
)
def batch_nodes_apart(environment: ComputeEnvironment, world: World) -> Found:
    """Several zones with a group are an error; EFA hosts without any group a warning."""
    value = environment.raw(f"{_HOW}.placementGroup")
    placement = world.link(environment, value, PlacementGroup)
    wanted = environment.node(f"{_HOW}.subnets")
    subnets = world.links(environment, wanted, Subnet)
    zones = [subnet.zone for subnet in subnets]
    if placement is not None and placement.is_cluster:
        known = zones and all(zones) and len(zones) == len(wanted.items())
        if known and len(set(zones)) > 1:
            yield Hit(environment, f"{_HOW}.subnets")
        return
    if otherwise_set(environment, f"{_HOW}.placementGroup", world):
        return
    for key in ("launchTemplateId", "launchTemplateName"):
        link = environment.raw(f"{_HOW}.launchTemplate.{key}")
        template = world.link(environment, link, LaunchTemplate)
        if template is not None and template.efa_interfaces and template.market is None:
            message = "EFA hosts of Batch without a cluster placement group"
            yield Hit(environment, f"{_HOW}.placementGroup", message, severity="warning")
            return
