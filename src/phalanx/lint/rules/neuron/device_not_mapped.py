"""Neuron wished for, device not handed over."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_TYPE = Pattern(r"(?:inf|trn)\d")


@rule(
    id="NEU001",
    slug="neuron-device-not-mapped",
    severity="error",
    areas=("neuron",),
    on=Container,
    message="Neuron is used on EC2, but no /dev/neuron device is mapped",
    why="On EC2 capacity a container sees a Neuron device only when its path is mapped. An "
    "environment variable alone does nothing without the old host hook.",
    fix="On EC2 map /dev/neuron0 and so on in linuxParameters.devices (with capability IPC_LOCK "
    "as in the published examples); on Managed Instances use the resource requirement "
    "NeuronDevice = ALL instead. One Neuron task for each host.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-inference.html",
            "2026-07-10",
        ),
        ("https://github.com/aws-neuron/aws-neuron-sdk/issues/633", "undated"),
    ),
    facts=("NEU-07", "NEU-11", "CMP-26"),
)
def neuron_device_not_mapped(container: Container, world: World) -> Found:
    """Neuron variables, or a Neuron image on an Inferentia or Trainium type, without a map."""
    workload = container.workload
    if workload.flavour not in ("ecs", "batch") or container.is_privileged:
        return
    if workload.launch_types and "EC2" not in workload.launch_types:
        return
    if not _wants(container) or not container.devices_known:
        return
    if any(c.maps("/dev/neuron") or c.wants_neuron for c in workload.containers):
        return
    hooked = (t.user_data for t in world.near(workload, LaunchTemplate))
    if not any(data and "ECS_ENABLE_INF_SUPPORT" in data.settings for data in hooked):
        yield Hit(container, "linuxParameters.devices")


def _wants(container: Container) -> bool:
    keys = [variable.key for variable in container.environment.variables]
    if any(k == "AWS_NEURON_VISIBLE_DEVICES" or k.startswith("NEURON_RT_") for k in keys):
        return True
    image = container.text("image") or ""
    types = container.instance_types
    return "neuron" in image and bool(types) and all(_TYPE.match(t) for t in types)
