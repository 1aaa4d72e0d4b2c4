"""Shared memory, and tmpfs of Batch jobs, on Fargate."""

from __future__ import annotations

from phalanx.facts.rows import settled
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
    why="linuxParameters.sharedMemorySize is not supported on Fargate, and Batch supports no tmpfs "
    "there either: the definition is refused. ECS tasks on Fargate may mount tmpfs since "
    "2026-01-06.",
    fix="Remove it, and keep loader workers at 0 there; or run on EC2 or Managed Instances.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_LinuxParameters.html",
            "2026-05-20",
        ),
        (
            "https://aws.amazon.com/about-aws/whats-new/2026/01/"
            "amazon-ecs-tmpfs-mounts-aws-fargate-managed-instances/",
            "2026-01-06",
        ),
        ("https://docs.aws.amazon.com/batch/latest/APIReference/API_Tmpfs.html", "undated"),
    ),
    facts=("STO-26", "CMP-01"),
)
def shm_size_on_fargate(container: Container, world: World) -> Found:
    """Fargate is the only compatibility; among others it is a warning."""
    types, flavour = container.workload.launch_types, container.workload.flavour
    if "FARGATE" not in types or flavour not in ("ecs", "batch"):
        return
    severity = "" if types == {"FARGATE"} else "warning"
    if container.number("linuxParameters.sharedMemorySize"):
        yield Hit(container, "linuxParameters.sharedMemorySize", severity=severity)
    takes_tmpfs = flavour != "batch" or settled("fargate.batch-tmpfs")
    if container.items("linuxParameters.tmpfs") and not takes_tmpfs:
        text = "Batch takes no tmpfs on Fargate"
        yield Hit(container, "linuxParameters.tmpfs", text, severity=severity)
