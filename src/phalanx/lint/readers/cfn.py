"""CloudFormation templates: every resource that rules know, once for every assumption."""

from __future__ import annotations

import json
from typing import Any

from phalanx.lint import capacity, infra, launch
from phalanx.lint.entity import Entity, Scope
from phalanx.lint.pattern import Pattern
from phalanx.lint.place import Origin, Path
from phalanx.lint.readers.build import job_definition, task_definition
from phalanx.lint.readers.cfn_eval import NO_VALUE, Template, assumptions
from phalanx.lint.readers.origin import DocumentOrigin, upper_first
from phalanx.spec.places import Document

KINDS: dict[str, type[Entity]] = {
    "AWS::ECS::Service": launch.Service,
    "AWS::ECS::CapacityProvider": capacity.CapacityProvider,
    "AWS::ECS::Cluster": infra.Cluster,
    "AWS::ECS::ClusterCapacityProviderAssociations": infra.ClusterProviders,
    "AWS::EC2::LaunchTemplate": capacity.LaunchTemplate,
    "AWS::AutoScaling::LaunchConfiguration": capacity.LaunchTemplate,
    "AWS::AutoScaling::AutoScalingGroup": capacity.ScalingGroup,
    "AWS::AutoScaling::ScheduledAction": infra.ScheduledAction,
    "AWS::EC2::PlacementGroup": capacity.PlacementGroup,
    "AWS::EC2::Subnet": capacity.Subnet,
    "AWS::EC2::SecurityGroup": capacity.SecurityGroup,
    "AWS::EC2::SecurityGroupIngress": capacity.SecurityGroupRule,
    "AWS::EC2::SecurityGroupEgress": capacity.SecurityGroupRule,
    "AWS::EC2::VPCEndpoint": infra.VpcEndpoint,
    "AWS::ElasticLoadBalancingV2::TargetGroup": infra.TargetGroup,
    "AWS::ElasticLoadBalancingV2::LoadBalancer": infra.LoadBalancer,
    "AWS::ElasticLoadBalancingV2::Listener": infra.Listener,
    "AWS::ElasticLoadBalancingV2::ListenerRule": infra.ListenerRule,
    "AWS::Events::Rule": infra.EventRule,
    "AWS::FSx::FileSystem": infra.FileSystem,
    "AWS::EFS::FileSystem": infra.FileSystem,
    "AWS::EFS::MountTarget": infra.MountTarget,
    "AWS::IAM::Role": infra.Role,
    "AWS::IAM::Policy": infra.Policy,
    "AWS::IAM::ManagedPolicy": infra.Policy,
    "AWS::ECR::Repository": infra.EcrRepository,
    "AWS::Logs::LogGroup": infra.LogGroup,
    "AWS::CloudWatch::Alarm": infra.Alarm,
    "AWS::Budgets::Budget": infra.Budget,
    "AWS::Batch::ComputeEnvironment": infra.ComputeEnvironment,
    "AWS::Batch::JobQueue": infra.JobQueue,
    "AWS::S3::Bucket": infra.Bucket,
    "AWS::ApplicationAutoScaling::ScalableTarget": infra.ScalableTarget,
    "AWS::ApplicationAutoScaling::ScalingPolicy": infra.ScalingPolicy,
    "AWS::ServiceDiscovery::Service": infra.DiscoveryService,
    "AWS::GuardDuty::Detector": infra.Detector,
    "AWS::CloudTrail::Trail": infra.Trail,
}
VERBATIM = frozenset(
    {
        "assumeRolePolicyDocument",
        "policyDocument",
        "eventPattern",
        "options",
        "dockerLabels",
        "parameters",
    }
)
"""Members whose keys are data or another language's words: kept as they are written."""
_EXTRA: dict[str, Path] = {"AWS::EC2::LaunchTemplate": ("LaunchTemplateData",)}
_ACRONYM = Pattern(r"[A-Z]+(?=[A-Z][a-z]|$)|[A-Z]")
_ODD = {"FSxWindowsFileServerVolumeConfiguration": "fsxWindowsFileServerVolumeConfiguration"}


def is_template(value: object) -> bool:
    """It has resources with types of CloudFormation's."""
    resources = value.get("Resources") if isinstance(value, dict) else None
    return isinstance(resources, dict) and any(
        isinstance(r, dict) and isinstance(r.get("Type"), str) and "::" in r["Type"]
        for r in resources.values()
    )


def read_template(document: Document) -> list[Entity]:
    """The entities of a template, for every assumption about its parameters."""
    value = document.value
    assert isinstance(value, dict)
    out: list[Entity] = []
    for number, assume in enumerate(assumptions(Template(value))):
        template = Template(value, assume)
        for name, resource in template.resources.items():
            if isinstance(resource, dict) and template.holds(resource.get("Condition", "")):
                out += _resource(document, template, name, resource, (document.file, number))
    return out


def _resource(
    document: Document, template: Template, name: str, resource: dict[str, Any], scope: Scope
) -> list[Entity]:
    kind = str(resource.get("Type"))
    if kind not in KINDS and kind not in _BUILT:
        return []
    base: Path = ("Resources", name, "Properties", *_EXTRA.get(kind, ()))
    properties: Any = resource.get("Properties", {})
    for step in _EXTRA.get(kind, ()):
        properties = properties.get(step, {}) if isinstance(properties, dict) else {}
    data = normalise(template.resolve(properties))
    if data is NO_VALUE or not isinstance(data, dict):
        data = {}
    origin = DocumentOrigin(
        document, base, rename=upper_first, enter=template.enter, itself=base[:2]
    )
    build = _BUILT.get(kind)
    if build is not None:
        return build(data, origin, address=name, scope=scope)
    return finish(KINDS[kind](data, origin, address=name, scope=scope), kind)


def finish(entity: Entity, kind: str) -> list[Entity]:
    """Small repairs that make one kind look the same from every source."""
    if isinstance(entity, capacity.SecurityGroupRule):
        entity.data["direction"] = "egress" if "Egress" in kind else "ingress"
    if isinstance(entity, infra.FileSystem) and kind == "AWS::EFS::FileSystem":
        entity.data["fileSystemType"] = "EFS"
    if isinstance(entity, infra.EventRule):
        return [entity, *_targets(entity)]
    return [entity]


def _targets(rule: infra.EventRule) -> list[Entity]:
    out: list[Entity] = []
    for target in rule.items("targets"):
        ecs = target.node("ecsParameters")
        if isinstance(ecs.data, dict):
            data = {**ecs.data, "taskDefinition": ecs.data.get("taskDefinitionArn")}
            out.append(launch.EventTarget(data, ecs.origin, ecs.base, scope=rule.scope))
    return out


def normalise(value: Any) -> Any:
    """PascalCase keys as lowerCamelCase, except inside members that are another language."""
    if isinstance(value, dict):
        out = {}
        for key, item in value.items():
            name = lower_first(str(key))
            out[name] = _parsed(item) if name in VERBATIM else normalise(item)
        return out
    if isinstance(value, list):
        return [normalise(item) for item in value]
    return value


def lower_first(name: str) -> str:
    """`VPCZoneIdentifier` → `vpcZoneIdentifier`."""
    if not name[:1].isupper():
        return name
    return _ODD.get(name) or _ACRONYM.sub(lambda m: m[0].lower(), name, count=1)


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _job(data: Any, origin: Origin, *, address: str, scope: Scope) -> list[Entity]:
    return job_definition(data, origin, address=address, scope=scope)


def _task(data: Any, origin: Origin, *, address: str, scope: Scope) -> list[Entity]:
    return task_definition(data, origin, address=address, scope=scope)


_BUILT = {"AWS::ECS::TaskDefinition": _task, "AWS::Batch::JobDefinition": _job}
