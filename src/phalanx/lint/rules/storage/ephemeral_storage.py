"""A Fargate disk setting on tasks of EC2."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Workload
from phalanx.lint.world import World


@rule(
    id="STO011",
    slug="ephemeral-storage-on-ec2",
    severity="warning",
    areas=("storage",),
    on=Workload,
    message="ephemeralStorage is a setting of Fargate: EC2 tasks use the host's disk",
    why="On EC2 the size is not given to the task: images and scratch files still share the root "
    "volume of the host.",
    fix="Size the root volume in the launch template, use local NVMe, or attach an EBS volume "
    "(configuredAtLaunch).",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_EphemeralStorage.html",
            "2026-05-20",
        ),
    ),
    facts=("STO-31", "STO-17"),
)
def ephemeral_storage_on_ec2(workload: Workload, world: World) -> Found:
    """Accelerated tasks, or tasks that say EC2 alone."""
    sizes = [workload.number(f"ephemeralStorage.{key}") for key in ("sizeInGiB", "sizeInGib")]
    if workload.flavour != "ecs" or not any(sizes):
        return
    if workload.is_accelerated and "FARGATE" not in workload.launch_types:
        yield Hit(workload, "ephemeralStorage")
