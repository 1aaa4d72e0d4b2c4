"""Widely used modules of the public registry, read as the resources that they make.

Their code is not in the tree; their inputs say enough. Only what the inputs say is known.
"""

from __future__ import annotations

from typing import Any

from phalanx.lint import capacity, launch, workload
from phalanx.lint.place import Path
from phalanx.lint.readers.hcl import Block
from phalanx.lint.readers.tf_shapes import (
    SHAPES,
    Blocks,
    Moves,
    Shape,
    camel,
    translate,
)
from phalanx.lint.values import UNKNOWN, Ref, Unknown

AUTOSCALING = "terraform-aws-modules/autoscaling/aws"
ECS = "terraform-aws-modules/ecs/aws"
VPC = "terraform-aws-modules/vpc/aws"
_NETWORKS = ("private_subnets", "public_subnets", "intra_subnets")
_TEMPLATE_KEYS = """image_id instance_type user_data block_device_mappings network_interfaces
instance_market_options placement metadata_options security_groups iam_instance_profile_arn
capacity_reservation_specification"""
_GROUP_SHAPE = Shape(
    capacity.ScalingGroup,
    {
        **SHAPES["aws_autoscaling_group"].renames,
        "mixed_instances_policy.override": "launchTemplate.overrides",
    },
)
_TEMPLATE_SHAPE = Shape(
    capacity.LaunchTemplate,
    {**SHAPES["aws_launch_template"].renames, "security_groups": "securityGroupIds"},
)
_TASK_KEYS = ("cpu", "memory", "network_mode", "requires_compatibilities", "ipc_mode", "family")
_MAPS = {"capacity_provider_strategy": "capacityProviderStrategy", "load_balancer": "loadBalancers"}
Made = tuple[Shape, dict[str, Any], Moves, str]
"""(shape, data, moves, what is added to the module's address)."""


def known_source(block: Block, source: object) -> str:
    """The module's name in the registry; empty for one that is not known."""
    if block.kind != "module" or not isinstance(source, str):
        return ""
    base, _, inner = source.partition("//")
    if base in (AUTOSCALING, VPC):
        return base
    if base == ECS:
        return {"": "cluster", "modules/cluster": "cluster", "modules/service": "service"}.get(
            inner, ""
        )
    return ""


def known_resources(name: str, native: dict[str, Any], address: str) -> list[Made]:
    """What the module makes of its inputs."""
    if name == AUTOSCALING:
        return _autoscaling(native, address)
    if name == VPC:
        return [made for key in _NETWORKS for made in _subnets(native, key)]
    if name == "cluster":
        return _providers(native)
    return _service(native, address)


def known_output(name: str, native: dict[str, Any], address: str, output: str) -> Any:
    """An output as its inputs tell it; None where they do not."""
    if name != VPC or output not in _NETWORKS:
        return None
    return [Ref(address + more, "id") for *_, more in _subnets(native, output)] or None


def _subnets(native: dict[str, Any], key: str) -> list[Made]:
    """One subnet for each block of addresses; zones are given out in turn."""
    blocks, zones = native.get(key), native.get("azs")
    if not isinstance(blocks, list) or not isinstance(zones, list) or not zones:
        return []
    out: list[Made] = []
    for n in range(len(blocks)):
        zone = n % len(zones)
        moves: Moves = {("availabilityZone",): ("azs", zone)}
        out.append((SHAPES["aws_subnet"], {"availabilityZone": zones[zone]}, moves, f".{key}[{n}]"))
    return out


def _autoscaling(native: dict[str, Any], address: str) -> list[Made]:
    blocks = {key: _blocks(value) for key, value in native.items()}
    keys = _TEMPLATE_KEYS.split()
    template = {key: value for key, value in blocks.items() if key in keys}
    group = {key: value for key, value in blocks.items() if key not in keys}
    if native.get("use_mixed_instances_policy") is False:
        group.pop("mixed_instances_policy", None)
    data, moves = translate(_GROUP_SHAPE, group)
    data.setdefault("launchTemplate", {"launchTemplateId": Ref(f"{address}.template", "id")})
    if not isinstance(data["launchTemplate"], dict):
        data["launchTemplate"] = UNKNOWN
    made = translate(_TEMPLATE_SHAPE, template)
    return [(_TEMPLATE_SHAPE, *made, ".template"), (_GROUP_SHAPE, data, moves, "")]


def _providers(native: dict[str, Any]) -> list[Made]:
    out: list[Made] = []
    shape = SHAPES["aws_ecs_capacity_provider"]
    for key in ("autoscaling_capacity_providers", "capacity_providers"):
        held = native.get(key)
        for name, value in held.items() if isinstance(held, dict) else ():
            if not isinstance(value, dict):
                continue
            inner = value.get("auto_scaling_group_provider")
            own: Path = (key, name)
            if isinstance(inner, dict):
                value, own = inner, (*own, "auto_scaling_group_provider")
            moves: Moves = {("autoScalingGroupProvider",): own}
            data = {
                "name": value.get("name", name),
                "autoScalingGroupProvider": camelled(
                    value, ("autoScalingGroupProvider",), own, moves
                ),
            }
            out.append((shape, data, moves, f".{name}"))
    return out


def _service(native: dict[str, Any], address: str) -> list[Made]:
    moves: Moves = {}
    task: dict[str, Any] = {"requiresCompatibilities": ["FARGATE"], "family": native.get("name")}
    for key in _TASK_KEYS:
        if native.get(key) is not None:
            task[camel(key)] = native[key]
            moves[(camel(key),)] = (key,)
    held = native.get("container_definitions")
    task["containerDefinitions"] = _listed(held, "container_definitions", moves)
    plain = {k: v for k, v in native.items() if k not in (*_MAPS, "container_definitions")}
    service, service_moves = translate(SHAPES["aws_ecs_service"], plain)
    service["taskDefinition"] = Ref(f"{address}.task", "arn")
    for key, target in _MAPS.items():
        if native.get(key):
            service[target] = _listed(native[key], key, service_moves)
            service_moves[(target,)] = (key,)
    return [
        (Shape(workload.TaskDefinition), task, moves, ".task"),
        (Shape(launch.Service, SHAPES["aws_ecs_service"].renames), service, service_moves, ""),
    ]


def _listed(held: Any, key: str, moves: Moves) -> Any:
    """A map of named members as the list that the API has."""
    if not isinstance(held, dict):
        return UNKNOWN
    target = {**_MAPS, "container_definitions": "containerDefinitions"}[key]
    out = []
    for n, (name, value) in enumerate(held.items()):
        moves[(target, n)] = (key, name)
        made = camelled(value, (target, n), (key, name), moves)
        if isinstance(made, dict) and key == "container_definitions":
            made.setdefault("name", name)
        out.append(made)
    return out


def camelled(value: Any, at: Path, own: Path, moves: Moves) -> Any:
    """Data with snake_case keys as lowerCamelCase, and where each member stands."""
    if isinstance(value, dict):
        out: dict[str, Any] = {}
        for key, item in value.items():
            name = camel(str(key))
            moves[(*at, name)] = (*own, str(key))
            out[name] = camelled(item, (*at, name), (*own, str(key)), moves)
        return out
    if isinstance(value, list):
        return [camelled(v, (*at, n), (*own, n), moves) for n, v in enumerate(value)]
    return value


def _blocks(value: Any) -> Any:
    """Inputs that are objects, as if they were blocks."""
    if isinstance(value, dict):
        return Blocks([{k: _blocks(v) for k, v in value.items()}])
    if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
        return Blocks({k: _blocks(item) for k, item in v.items()} for v in value)
    return UNKNOWN if isinstance(value, Unknown) and not isinstance(value, Ref) else value
