"""Several GPU types in one scaling group."""

from __future__ import annotations

from phalanx.facts.instances import instance
from phalanx.lint.capacity import ScalingGroup
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.capacity.weights import PAGE
from phalanx.lint.world import World


@rule(
    id="CAP002",
    slug="mixed-gpu-types-in-asg",
    severity="warning",
    areas=("capacity",),
    on=ScalingGroup,
    message="One scaling group mixes GPU types",
    why="It is allowed, but managed scaling counts with the smallest type, so larger tasks wait "
    "while small hosts are added, and the GPU requirement counts cards, not their memory.",
    fix="Make one scaling group and one capacity provider for each GPU type, and join them by a "
    "capacity provider strategy.",
    sources=(
        (PAGE, "2026-07-10"),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/managed-scaling-behavior.html",
            "2026-07-10",
        ),
    ),
    guards=("GR2",),
    facts=("CAP-01", "CAP-03", "CMP-33"),
)
def mixed_gpu_types_in_asg(group: ScalingGroup, world: World) -> Found:
    """Types that differ in card or number of cards, in a group that serves ECS."""
    template = group.launch_template
    data = template.user_data if template else None
    is_ecs = bool(group.capacity_providers) or (data is not None and "ECS_CLUSTER" in data.settings)
    rows = [instance(name) for name in group.instance_types]
    kinds = {(r.accelerator, r.count, r.share) for r in rows if r and (r.count or r.is_fractional)}
    if is_ecs and len(kinds) > 1:
        names = ", ".join(group.instance_types)
        yield Hit(group, "mixedInstancesPolicy", f"One scaling group mixes GPU types: {names}")
