"""Runtime monitoring that does not reach the hosts."""

from __future__ import annotations

from phalanx.lint.capacity import CapacityProvider
from phalanx.lint.entity import Node
from phalanx.lint.infra import Detector
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Workload
from phalanx.lint.world import World

_RUNTIME = ("RUNTIME_MONITORING", "EKS_RUNTIME_MONITORING")


@rule(
    id="SEC015",
    slug="runtime-monitoring-does-not-cover",
    severity="warning",
    areas=("security",),
    on=Detector,
    message="GuardDuty Runtime Monitoring does not cover these hosts",
    why="It covers ECS on EC2 hosts and Fargate, not Managed Instances, ECS Anywhere or Windows: "
    "a dashboard that says it is on is silent about those tasks. Malware Protection does cover "
    "volumes of Managed Instances.",
    fix="Run a third-party agent there as a sidecar or managed daemon, or keep workloads that need "
    "it on EC2 hosts.",
    sources=(
        (
            "https://docs.aws.amazon.com/guardduty/latest/ug/"
            "how-does-runtime-monitoring-work-with-ecs.html",
            "2026-07-10",
        ),
    ),
    guards=("SB8",),
    facts=("SCY-19", "SCY-20"),
)
def runtime_monitoring_does_not_cover(detector: Detector, world: World) -> Found:
    """Switched on beside such hosts: a warning. Switched off beside GPU hosts: an info."""
    state = _state(detector)
    if state == "on":
        names = _uncovered(detector, world)
        if names:
            yield Hit(detector, message=f"Runtime Monitoring does not cover {', '.join(names)}")
    elif state == "off":
        hosts = [w for w in world.near(detector, Workload) if w.is_accelerated]
        if any("EC2" in w.launch_types for w in hosts):
            text = "Runtime Monitoring is off, and accelerated tasks run on EC2 hosts"
            yield Hit(detector, message=text, severity="info")


def _state(detector: Detector) -> str:
    """`on`, `off` or empty when it cannot be known."""
    if detector.has("detectorId"):
        features: list[Node] = [detector]
    else:
        features = detector.items("features")
    for feature in features:
        if feature.text("name") in _RUNTIME:
            status = feature.text("status")
            return {"ENABLED": "on", "DISABLED": "off"}.get(status or "", "")
    return ""


def _uncovered(detector: Detector, world: World) -> list[str]:
    found = [
        f"{provider.name or provider.address} (Managed Instances)"
        for provider in world.near(detector, CapacityProvider)
        if provider.is_managed_instances
    ]
    for workload in world.near(detector, Workload):
        name = workload.name or workload.address
        if workload.launch_types == {"EXTERNAL"}:
            found.append(f"{name} (ECS Anywhere)")
        elif (workload.text("runtimePlatform.operatingSystemFamily") or "").startswith("WINDOWS"):
            found.append(f"{name} (Windows)")
    return found
