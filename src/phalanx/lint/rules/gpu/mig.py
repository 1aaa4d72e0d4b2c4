"""MIG or time slicing wished for on ECS."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.entity import Entity
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Environment
from phalanx.lint.world import World

_HOST = Pattern(r"nvidia-smi\s+(?:-\w+\s+\S+\s+)*(?:mig\b|-mig\b|--multi-instance)|nvidia-mig-")
_SLICES = Pattern(r"^MIG-|nvidia\.com/mig-|^\d+:\d+$")
_VARIABLES = ("NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "NVIDIA_MIG_CONFIG_DEVICES")


@rule(
    id="GPU011",
    slug="mig-without-scheduler",
    severity="warning",
    areas=("gpu",),
    on=Entity,
    message="MIG or time slicing is set up, and ECS has no scheduler for it",
    why="Native ECS places whole cards, MPS shares, or fractional types. It does not know "
    "slices: two tasks may land on one, and none is counted.",
    fix="Share by MPS (sharingStrategy.nvidiaMps) or use fractional types on Managed Instances; "
    "for MIG, time slicing or dynamic partitioning use EKS or SageMaker.",
    sources=(
        ("https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-gpu.html", "2026-07-10"),
        (
            "https://docs.aws.amazon.com/eks/latest/userguide/machine-learning-on-eks.html",
            "2026-07-10",
        ),
    ),
    guards=("GR3",),
    facts=("CMP-36", "BND-01", "BND-02"),
)
def mig_without_scheduler(entity: Entity, world: World) -> Found:
    """Host set-up in user data, and devices that name a slice."""
    if isinstance(entity, LaunchTemplate):
        if entity.user_data and _HOST.search(entity.user_data.text):
            yield Hit(entity, "userData")
    elif isinstance(entity, Environment):
        for name in _VARIABLES:
            variable = entity.get(name)
            if variable and _SLICES.search(variable.content or ""):
                yield Hit(variable, message=f"{name} names a MIG slice, which ECS does not place")
