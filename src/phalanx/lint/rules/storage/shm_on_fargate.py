"""Shared memory and tmpfs on Fargate."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="STO007",
    slug="shm-size-on-fargate",
    severity="error",
    areas=("storage",),
    on=Container,
    message="Fargate takes no sharedMemorySize",
    why="linuxParameters.sharedMemorySize and tmpfs are not supported on Fargate: the task "
    "definition is refused.",
    fix="Remove it, and keep loader workers at 0 there; or run on EC2 or Managed Instances.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_LinuxParameters.html",
            "2026-05-20",
        ),
    ),
    facts=("STO-26", "CMP-01"),
)
def shm_size_on_fargate(container: Container, world: World) -> Found:
    """Fargate is the only compatibility; among others it is a warning."""
    types = container.workload.launch_types
    if "FARGATE" not in types or container.workload.flavour not in ("ecs", "batch"):
        return
    severity = "" if types == {"FARGATE"} else "warning"
    if container.number("linuxParameters.sharedMemorySize"):
        yield Hit(container, "linuxParameters.sharedMemorySize", severity=severity)
    if container.items("linuxParameters.tmpfs"):
        yield Hit(container, "linuxParameters.tmpfs", "Fargate takes no tmpfs", severity=severity)
