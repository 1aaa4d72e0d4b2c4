"""Autoscaling of a GPU service on a metric that says nothing about GPUs."""

from __future__ import annotations

from phalanx.lint.infra import ScalableTarget, ScalingPolicy
from phalanx.lint.launch import Service
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.values import HOLE, Ref
from phalanx.lint.world import World

_METRIC = (
    "targetTrackingScalingPolicyConfiguration.predefinedMetricSpecification.predefinedMetricType"
)
_BAD = {
    "ECSServiceAverageCPUUtilization": "CPU",
    "ECSServiceAverageMemoryUtilization": "memory",
    "ECSServiceAverageCPUUtilizationHighResolution": "CPU",
    "ECSServiceAverageMemoryUtilizationHighResolution": "memory",
}
_SHIFTS = ("BLUE_GREEN", "LINEAR", "CANARY")


@rule(
    id="SRV010",
    slug="gpu-service-scales-on-wrong-metric",
    severity="warning",
    areas=("serving", "cost"),
    on=ScalingPolicy,
    message="A GPU service scales on a metric that says nothing about its GPUs",
    why="CPU and memory of the host stay flat while requests queue at the card: the service grows "
    "too late, or never. ALBRequestCountPerTarget is not supported with blue/green, linear and "
    "canary deployments.",
    fix="Scale on a custom metric: running plus waiting requests for each task "
    "(vllm:num_requests_waiting), GPU utilisation, or queue depth; scale in slowly.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/service-autoscaling-targettracking.html",
            "2026-07-10",
        ),
    ),
    facts=("SRV-20", "SRV-21", "SRV-22"),
)
def gpu_service_scales_on_wrong_metric(policy: ScalingPolicy, world: World) -> Found:
    """Target tracking on a predefined metric, of a service that is known to use accelerators."""
    metric = policy.text(_METRIC) or ""
    if metric not in _BAD and metric != "ALBRequestCountPerTarget":
        return
    service = scaled_service(policy, world)
    if service is None or service.task is None or not service.task.is_accelerated:
        return
    if metric in _BAD:
        others = [
            other
            for other in world.near(policy, ScalingPolicy)
            if other is not policy and scaled_service(other, world) is service
        ]
        text = f"A GPU service scales on the {_BAD[metric]} of its host"
        yield Hit(policy, _METRIC, text, severity="info" if others else "")
    elif service.text("deploymentConfiguration.strategy") in _SHIFTS:
        text = "ALBRequestCountPerTarget is not supported with this deployment strategy"
        yield Hit(policy, _METRIC, text)


def scaled_service(entity: ScalingPolicy | ScalableTarget, world: World) -> Service | None:
    """The service that a policy or a target scales; None when that cannot be known."""
    target: ScalingPolicy | ScalableTarget = entity
    for key in ("scalingTargetId", "resourceId"):
        value = entity.raw(key)
        if isinstance(value, Ref):
            linked = world.at_address(entity, value.address)
            if isinstance(linked, ScalableTarget):
                target = linked
    text = target.text("resourceId")
    services = world.near(entity, Service)
    if text is not None and text.startswith("service/") and text.count("/") == 2:
        name = text.rpartition("/")[2]
        if HOLE not in name:
            return next((s for s in services if s.name == name or s.address == name), None)
    dimension = target.text("scalableDimension")
    is_ecs = dimension == "ecs:service:DesiredCount" or (text or "").startswith("service/")
    return services[0] if is_ecs and len(services) == 1 else None
