"""Host devices mapped on Fargate."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.host.fargate_gpu import PAGE, on_fargate
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="HST002",
    slug="fargate-devices",
    severity="error",
    areas=("host",),
    on=Container,
    message="A host device is mapped on Fargate",
    why="Fargate has no host devices to map; it refuses linuxParameters.devices.",
    fix="Remove the device map and run the accelerator part on EC2 capacity, Managed Instances "
    "or External capacity.",
    sources=((PAGE, "2026-07-10"),),
    guards=("GR1",),
    facts=("CMP-01", "CMP-03"),
)
def fargate_devices(container: Container, world: World) -> Found:
    """The list of devices, where the task runs on Fargate."""
    if container.devices and container.workload.flavour == "ecs" and on_fargate(container):
        yield Hit(container, "linuxParameters.devices")
