"""Alarms on GPU metrics that nobody publishes."""

from __future__ import annotations

from phalanx.lint.capacity import CapacityProvider
from phalanx.lint.infra import Alarm, Cluster
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_AGENTLESS = Pattern(r"^(?:Task|Container)GPU\w+|^InstanceGPU\w+")
_OTHER = Pattern(r"^(?:container|node|pod)_gpu_\w+")


@rule(
    id="OBS002",
    slug="gpu-metric-does-not-exist-here",
    severity="warning",
    areas=("observability",),
    on=Alarm,
    message="The alarm watches a GPU metric that does not exist here",
    why="Agentless GPU metrics come with enhanced Container Insights on Managed Instances only. "
    "On EC2 hosts there is GPUReservation, which says what is reserved, not what is used: the "
    "alarm never gets data and never fires.",
    fix="On EC2 run the CloudWatch agent with nvidia_gpu or a DCGM exporter and watch its metrics; "
    "on Managed Instances set containerInsights to enhanced.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/"
            "Container-Insights-enhanced-observability-metrics-ECS.html",
            "2026-07-10",
        ),
    ),
    facts=("MON-02", "MON-03", "MON-05"),
)
def gpu_metric_does_not_exist_here(alarm: Alarm, world: World) -> Found:
    """Where every provider in the world is one of scaling groups, or insights are not enhanced."""
    name = alarm.text("metricName") or ""
    space = alarm.text("namespace") or ""
    if _OTHER.match(name) and space in ("ECS/ContainerInsights", "AWS/ECS"):
        yield Hit(alarm, "metricName", f"{name} is a metric of EKS; ECS has none of that name")
        return
    if not _AGENTLESS.match(name) or space not in ("", "ECS/ContainerInsights"):
        return
    providers = world.near(alarm, CapacityProvider)
    if not providers:
        return
    if not any(provider.is_managed_instances for provider in providers):
        yield Hit(alarm, "metricName", f"{name} does not exist on EC2 hosts")
        return
    values = [
        item.text("value")
        for cluster in world.near(alarm, Cluster)
        for item in cluster.items("clusterSettings")
        if item.text("name") == "containerInsights"
    ]
    if values and all(value in ("enabled", "disabled") for value in values):
        yield Hit(alarm, "metricName", f"{name} needs containerInsights enhanced")
