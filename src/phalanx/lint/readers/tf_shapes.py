"""How resources of the AWS provider are written, in the words of the AWS API.

A rename maps a dotted path of the provider to a dotted path below the same parent; an empty target
merges a block into its parent. Whatever is not named is snake_case made lowerCamelCase.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from phalanx.lint import capacity, infra, launch, workload
from phalanx.lint.entity import Entity
from phalanx.lint.pattern import Pattern
from phalanx.lint.place import Path
from phalanx.lint.readers.hcl_functions import Encoded
from phalanx.lint.values import HOLE, UNKNOWN

_LISTS = """override load_balancer capacity_provider_strategy default_capacity_provider_strategy
volume placement_constraints ordered_placement_strategy service_registries block_device_mappings
network_interfaces ingress egress default_action action condition tag setting tag_specifications
evaluate_on_exit inline_policy statement compute_environment_order dns_records principals
volume_configuration ebs_block_device cluster_setting"""
LISTS = frozenset(_LISTS.split())
"""Blocks that are lists in the API, even if there is one."""
JSON_TEXT = frozenset(
    {
        "container_definitions",
        "container_properties",
        "node_properties",
        "ecs_properties",
        "policy",
        "assume_role_policy",
        "event_pattern",
    }
)
"""Attributes whose text is JSON; its keys stay as they are written."""


@dataclass(frozen=True)
class Shape:
    """One resource type; `fixed` are members that the type itself implies."""

    kind: type[Entity]
    renames: dict[str, str] = field(default_factory=dict)
    fixed: dict[str, Any] = field(default_factory=dict)


_RULE = {"protocol": "ipProtocol", "security_group_id": "groupId", "type": "direction"}
_SERVICE = {
    "name": "serviceName",
    "load_balancer": "loadBalancers",
    "network_configuration": "networkConfiguration.awsvpcConfiguration",
    "deployment_maximum_percent": "deploymentConfiguration.maximumPercent",
    "deployment_minimum_healthy_percent": "deploymentConfiguration.minimumHealthyPercent",
    "deployment_circuit_breaker": "deploymentConfiguration.deploymentCircuitBreaker",
    "alarms": "deploymentConfiguration.alarms",
    "ordered_placement_strategy": "placementStrategy",
}
_GROUP = {
    "name": "autoScalingGroupName",
    "protect_from_scale_in": "newInstancesProtectedFromScaleIn",
    "launch_configuration": "launchConfigurationName",
    "tag": "tags",
    "launch_template.id": "launchTemplateId",
    "launch_template.name": "launchTemplateName",
    "mixed_instances_policy.launch_template.override": "overrides",
}
_TARGET = {
    "health_check": "",
    "health_check.path": "healthCheckPath",
    "health_check.interval": "healthCheckIntervalSeconds",
    "health_check.timeout": "healthCheckTimeoutSeconds",
    "health_check.port": "healthCheckPort",
    "health_check.protocol": "healthCheckProtocol",
    "health_check.unhealthy_threshold": "unhealthyThresholdCount",
    "health_check.healthy_threshold": "healthyThresholdCount",
    "health_check.enabled": "healthCheckEnabled",
}
_TEMPLATE = {
    "name": "launchTemplateName",
    "vpc_security_group_ids": "securityGroupIds",
    "network_interfaces.security_groups": "groups",
    "user_data_base64": "userData",
}
_LISTENER = {"default_action": "defaultActions", "certificate_arn": "certificateArn"}
_GROUP_LISTS = {
    "name": "groupName",
    "ingress": "securityGroupIngress",
    "egress": "securityGroupEgress",
    "ingress.protocol": "ipProtocol",
    "egress.protocol": "ipProtocol",
}
_TASK = {"volume": "volumes", "volume.host_path": "host.sourcePath"}
_BATCH = {"name": "jobDefinitionName"}

SHAPES: dict[str, Shape] = {
    "aws_ecs_task_definition": Shape(workload.TaskDefinition, _TASK),
    "aws_batch_job_definition": Shape(workload.JobDefinition, _BATCH),
    "aws_ecs_service": Shape(launch.Service, _SERVICE),
    "aws_ecs_capacity_provider": Shape(capacity.CapacityProvider),
    "aws_ecs_cluster": Shape(infra.Cluster, {"name": "clusterName", "setting": "clusterSettings"}),
    "aws_ecs_cluster_capacity_providers": Shape(
        infra.ClusterProviders, {"cluster_name": "cluster"}
    ),
    "aws_launch_template": Shape(capacity.LaunchTemplate, _TEMPLATE),
    "aws_launch_configuration": Shape(
        capacity.LaunchTemplate,
        {"security_groups": "securityGroupIds", "user_data_base64": "userData"},
    ),
    "aws_autoscaling_group": Shape(capacity.ScalingGroup, _GROUP),
    "aws_autoscaling_schedule": Shape(infra.ScheduledAction),
    "aws_placement_group": Shape(capacity.PlacementGroup),
    "aws_subnet": Shape(capacity.Subnet),
    "aws_security_group": Shape(capacity.SecurityGroup, _GROUP_LISTS),
    "aws_security_group_rule": Shape(capacity.SecurityGroupRule, _RULE),
    "aws_vpc_security_group_ingress_rule": Shape(
        capacity.SecurityGroupRule,
        {
            "security_group_id": "groupId",
            "referenced_security_group_id": "sourceSecurityGroupId",
            "cidr_ipv4": "cidrIp",
        },
        {"direction": "ingress"},
    ),
    "aws_vpc_security_group_egress_rule": Shape(
        capacity.SecurityGroupRule,
        {
            "security_group_id": "groupId",
            "referenced_security_group_id": "destinationSecurityGroupId",
            "cidr_ipv4": "cidrIp",
        },
        {"direction": "egress"},
    ),
    "aws_lb_target_group": Shape(infra.TargetGroup, _TARGET),
    "aws_alb_target_group": Shape(infra.TargetGroup, _TARGET),
    "aws_lb": Shape(infra.LoadBalancer, {"load_balancer_type": "type"}),
    "aws_alb": Shape(infra.LoadBalancer, {"load_balancer_type": "type"}),
    "aws_lb_listener": Shape(infra.Listener, _LISTENER),
    "aws_alb_listener": Shape(infra.Listener, _LISTENER),
    "aws_lb_listener_rule": Shape(
        infra.ListenerRule, {"action": "actions", "condition": "conditions"}
    ),
    "aws_cloudwatch_event_rule": Shape(infra.EventRule),
    "aws_cloudwatch_event_target": Shape(
        launch.EventTarget,
        {"ecs_target": "", "ecs_target.task_definition_arn": "taskDefinition", "arn": "cluster"},
    ),
    "aws_fsx_lustre_file_system": Shape(
        infra.FileSystem,
        {
            "deployment_type": "lustreConfiguration.deploymentType",
            "per_unit_storage_throughput": "lustreConfiguration.perUnitStorageThroughput",
        },
        {"fileSystemType": "LUSTRE"},
    ),
    "aws_efs_file_system": Shape(infra.FileSystem, fixed={"fileSystemType": "EFS"}),
    "aws_efs_mount_target": Shape(infra.MountTarget),
    "aws_iam_role": Shape(
        infra.Role,
        {
            "name": "roleName",
            "assume_role_policy": "assumeRolePolicyDocument",
            "inline_policy": "policies",
            "inline_policy.policy": "policyDocument",
        },
    ),
    "aws_iam_policy": Shape(infra.Policy, {"name": "policyName", "policy": "policyDocument"}),
    "aws_iam_role_policy": Shape(
        infra.Policy, {"name": "policyName", "policy": "policyDocument", "role": "role"}
    ),
    "aws_ecr_repository": Shape(infra.EcrRepository, {"name": "repositoryName"}),
    "aws_cloudwatch_log_group": Shape(infra.LogGroup, {"name": "logGroupName"}),
    "aws_cloudwatch_metric_alarm": Shape(infra.Alarm),
    "aws_budgets_budget": Shape(infra.Budget),
    "aws_batch_compute_environment": Shape(
        infra.ComputeEnvironment,
        {"name": "computeEnvironmentName", "compute_resources.instance_type": "instanceTypes"},
    ),
    "aws_batch_job_queue": Shape(infra.JobQueue, {"name": "jobQueueName"}),
    "aws_s3_bucket": Shape(infra.Bucket, {"bucket": "bucketName"}),
    "aws_s3_bucket_versioning": Shape(infra.BucketVersioning),
    "aws_vpc_endpoint": Shape(infra.VpcEndpoint),
    "aws_appautoscaling_target": Shape(infra.ScalableTarget),
    "aws_appautoscaling_policy": Shape(infra.ScalingPolicy, {"name": "policyName"}),
    "aws_service_discovery_service": Shape(infra.DiscoveryService),
    "aws_guardduty_detector": Shape(infra.Detector),
    "aws_guardduty_detector_feature": Shape(infra.Detector),
    "aws_cloudtrail": Shape(infra.Trail),
}
_BARE = Pattern(rf"([:,\[]\s*)({HOLE})(?=\s*[,}}\]])")
_SNAKE = Pattern(r"_+([a-z0-9])")
_CAMEL = Pattern(r"(?<=[a-z0-9])([A-Z])")
Moves = dict[Path, Path]
"""Normalised path → path in the provider's words."""


def camel(name: str) -> str:
    """`vpc_zone_identifier` → `vpcZoneIdentifier`."""
    return _SNAKE.sub(lambda m: m[1].upper(), name)


def snake(name: str) -> str:
    """`vpcZoneIdentifier` → `vpc_zone_identifier`."""
    return _CAMEL.sub(lambda m: "_" + m[1], name).lower()


def translate(shape: Shape, native: dict[str, Any]) -> tuple[dict[str, Any], Moves]:
    """(data in the API's words, where each member stands in the provider's words)."""
    work = _Translation(shape)
    data = dict(shape.fixed)
    work.block(native, data, (), ())
    _finish(data)
    return data, work.moves


class _Translation:
    """One resource on its way from the provider's words to the API's."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.moves: Moves = {}

    def block(self, native: dict[str, Any], out: dict[str, Any], at: Path, own: Path) -> None:
        """One block into `out`, which stands at `at`; the block itself stands at `own`."""
        dotted = ".".join(step for step in own if isinstance(step, str))
        for key, value in native.items():
            path = f"{dotted}.{key}" if dotted else key
            target = self.shape.renames.get(path, camel(key))
            mine = (*own, key)
            if value is None or (value == [] and key in LISTS):
                continue
            if not _is_block(value):
                held = _json(value) if key in JSON_TEXT else value
                self._put(out, target, plain(held), at, mine)
            elif key in LISTS:
                self._list(value, out, target, at, mine)
            elif target:
                inner: dict[str, Any] = {}
                self._put(out, target, inner, at, mine)
                self.block(value[0], inner, (*at, *target.split(".")), (*mine, 0))
            else:
                self.block(value[0], out, at, (*mine, 0))

    def _list(
        self, value: list[Any], out: dict[str, Any], target: str, at: Path, own: Path
    ) -> None:
        made: list[Any] = []
        self._put(out, target, made, at, own)
        here = (*at, *target.split("."))
        for n, item in enumerate(value):
            made.append({})
            self.moves[(*here, n)] = (*own, n)
            self.block(item, made[-1], (*here, n), (*own, n))

    def _put(self, out: dict[str, Any], target: str, value: Any, at: Path, own: Path) -> None:
        steps = target.split(".")
        for step in steps[:-1]:
            out = out.setdefault(step, {})
        if isinstance(value, dict) and isinstance(out.get(steps[-1]), dict):
            value.update(out[steps[-1]])
        out[steps[-1]] = value
        self.moves[(*at, *steps)] = own


def _is_block(value: Any) -> bool:
    return (
        isinstance(value, Blocks) and bool(value) and all(isinstance(item, dict) for item in value)
    )


class Blocks(list[Any]):
    """The repeated blocks of one name, as a list of their contents."""


def own_words(shape: Shape, path: Path, moves: Moves) -> tuple[Path, Path]:
    """(the provider's path of the longest known beginning, the steps that are left over)."""
    for length in range(len(path), 0, -1):
        found = moves.get(path[:length])
        if found is not None:
            return found, path[length:]
    dotted = ".".join(str(step) for step in path)
    for key, target in shape.renames.items():
        if "." not in key and target and (dotted == target or dotted.startswith(target + ".")):
            return (), (key, *path[target.count(".") + 1 :])
    for key, target in shape.renames.items():
        if target == dotted and shape.renames.get(key.rpartition(".")[0]) == "":
            return (), tuple(key.split("."))
    return (), path


def _json(value: Any) -> Any:
    if isinstance(value, Encoded):
        return value.value
    if not isinstance(value, str):
        return value
    try:
        # An unknown number or list stands there without quotes.
        return _with_unknown(json.loads(_BARE.sub(r'\1"\2"', value)))
    except ValueError:
        return UNKNOWN if HOLE in value else value


def _with_unknown(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_unknown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_unknown(item) for item in value]
    return UNKNOWN if value == HOLE else value


def plain(value: Any) -> Any:
    """Data without `Encoded` parts."""
    if isinstance(value, Encoded):
        return UNKNOWN
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def _finish(data: dict[str, Any]) -> None:
    """What the provider says as a boolean and the API as a word."""
    network = data.get("networkConfiguration")
    inner = network.get("awsvpcConfiguration") if isinstance(network, dict) else None
    if isinstance(inner, dict) and isinstance(inner.get("assignPublicIp"), bool):
        inner["assignPublicIp"] = "ENABLED" if inner["assignPublicIp"] else "DISABLED"
    if isinstance(data.get("internal"), bool):
        data["scheme"] = "internal" if data["internal"] else "internet-facing"
