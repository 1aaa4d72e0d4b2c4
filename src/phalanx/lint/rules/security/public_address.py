"""Accelerated hosts and tasks with public addresses."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate, ScalingGroup, Subnet
from phalanx.lint.entity import Entity
from phalanx.lint.launch import Launcher
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import has_accelerator
from phalanx.lint.world import World

_PUBLIC = "networkConfiguration.awsvpcConfiguration.assignPublicIp"


@rule(
    id="SEC007",
    slug="public-address-on-accelerated-host",
    severity="warning",
    areas=("security",),
    on=Entity,
    message="Accelerated hosts or tasks get public addresses",
    why="Ray, notebooks, metrics and model servers have no authentication of their own; on a "
    "public address one open port is enough. Training needs no way in at all.",
    fix="Use private subnets with VPC endpoints (S3, ECR api and dkr, Logs, Secrets Manager, SSM, "
    "ECS) or NAT, no public addresses, and a load balancer where callers need one.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/vpc-endpoints.html",
            "2026-07-10",
        ),
    ),
    guards=("SB5",),
    facts=("SCY-21",),
)
def public_address_on_accelerated_host(entity: Entity, world: World) -> Found:
    """Tasks, network interfaces of launch templates, and subnets that hand out addresses."""
    if isinstance(entity, Launcher):
        task = entity.workload
        if task is not None and task.is_accelerated and entity.text(_PUBLIC) == "ENABLED":
            yield Hit(entity, _PUBLIC, "An accelerated task gets a public address")
    elif isinstance(entity, LaunchTemplate):
        yield from _template(entity)
    elif isinstance(entity, ScalingGroup) and has_accelerator(entity.instance_types):
        yield from _subnets(entity)


def _template(template: LaunchTemplate) -> Found:
    groups = template.scaling_groups
    types = {template.instance_type or "", *(t for g in groups for t in g.instance_types)}
    if not has_accelerator(tuple(types)):
        return
    for node in [template, *template.interfaces]:
        if node.flag("associatePublicIpAddress") is True:
            yield Hit(node, "associatePublicIpAddress")


def _subnets(group: ScalingGroup) -> Found:
    public: list[Subnet] = [s for s in group.subnets if s.flag("mapPublicIpOnLaunch") is True]
    template = group.launch_template
    closed = template is not None and any(
        i.flag("associatePublicIpAddress") is False for i in template.interfaces
    )
    if public and not closed:
        name = public[0].name or public[0].address
        text = f"Subnet {name} hands out public addresses to accelerated hosts"
        yield Hit(group, "vpcZoneIdentifier", text)
