"""Ports of Ray, notebooks and metrics that are open to everybody."""

from __future__ import annotations

from phalanx.lint.capacity import (
    LaunchTemplate,
    SecurityGroup,
    SecurityGroupRule,
    open_to_world,
    port_range,
)
from phalanx.lint.entity import Entity, Node
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import has_accelerator
from phalanx.lint.workload import Workload
from phalanx.lint.world import World

_RUNS_CODE = {
    6379: "Ray's head (GCS, or Redis)",
    8265: "Ray's dashboard",
    10001: "Ray's client port",
    8888: "Jupyter",
    2375: "the Docker API",
}
_SHOWS = {9400: "GPU metrics (DCGM)", 6006: "TensorBoard", 8002: "Triton's metrics"}
_NARROW = 4096


@rule(
    id="SEC010",
    slug="ml-port-open-to-world",
    severity="error",
    areas=("security",),
    on=Entity,
    message="A port of Ray, a notebook or metrics is open to the world",
    why="Ray and Jupyter run whatever code they are sent, mostly without a password; scanners find "
    "them within hours. Metrics give away what runs.",
    fix="Allow the port only from the group itself or from a bastion's security group; reach "
    "dashboards through a port forward (ECS Exec, Session Manager).",
    sources=(
        ("https://docs.ray.io/en/latest/ray-security/index.html", "undated"),
        ("https://docs.aws.amazon.com/AmazonECS/latest/developerguide/security.html", "2026-07-10"),
    ),
    guards=("SB6",),
    facts=("SCY-24",),
)
def ml_port_open_to_world(entity: Entity, world: World) -> Found:
    """Ingress from every address. A range over most ports counts beside accelerators."""
    if isinstance(entity, SecurityGroup):
        for rule_ in entity.rules("ingress"):
            yield from _judge(rule_, entity, world)
    elif (
        isinstance(entity, SecurityGroupRule)
        and entity.direction == "ingress"
        and world.link(entity, entity.raw("groupId"), SecurityGroup) is None
    ):
        yield from _judge(entity, entity, world)


def _judge(rule_: Node, entity: Entity, world: World) -> Found:
    if not open_to_world(rule_) or rule_.text("ipProtocol") in ("udp", "icmp", "icmpv6", "58", "1"):
        return
    ports = port_range(rule_)
    if ports is None:
        return
    first, last = ports
    wide = last - first > _NARROW
    if wide and not _has_accelerators(entity, world):
        return
    code = [f"{p} ({what})" for p, what in _RUNS_CODE.items() if first <= p <= last]
    shown = [f"{p} ({what})" for p, what in _SHOWS.items() if first <= p <= last]
    if wide and code:
        text = f"Ports {first}-{last} are open to the world, with Ray, notebooks and metrics"
        yield Hit(rule_, message=text)
    elif code:
        yield Hit(rule_, message=f"Open to the world: {', '.join(code)}")
    elif shown:
        yield Hit(rule_, message=f"Open to the world: {', '.join(shown)}", severity="warning")


def _has_accelerators(entity: Entity, world: World) -> bool:
    if any(workload.is_accelerated for workload in world.near(entity, Workload)):
        return True
    types = [t.instance_type or "" for t in world.near(entity, LaunchTemplate)]
    return has_accelerator(tuple(types))
