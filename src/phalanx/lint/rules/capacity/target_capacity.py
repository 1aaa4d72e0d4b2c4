"""Managed scaling with settings that are refused."""

from __future__ import annotations

from phalanx.facts.rows import settled
from phalanx.lint.capacity import CapacityProvider
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_BASE = "autoScalingGroupProvider.managedScaling"
_STEP = (1, 10000)


@rule(
    id="CAP005",
    slug="managed-scaling-out-of-range",
    severity="error",
    areas=("capacity",),
    on=CapacityProvider,
    message="A setting of managed scaling is out of its range",
    why="targetCapacity is 1-100, step sizes 1-10000, the warm-up 0-10000 s: the call "
    "is refused with anything else.",
    fix="Keep targetCapacity within 1-100 (below 100 keeps spare hosts), steps within 1-10000.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_ManagedScaling.html",
            "2026-05-20",
        ),
    ),
    facts=("CAP-09",),
)
def managed_scaling_out_of_range(provider: CapacityProvider, world: World) -> Found:
    """targetCapacity, step sizes and the warm-up; a smallest step above the largest."""
    low, high = settled("provider.target-capacity")
    bounds = {
        "targetCapacity": (low, high),
        "minimumScalingStepSize": _STEP,
        "maximumScalingStepSize": _STEP,
        "instanceWarmupPeriod": (0, 10000),
    }
    for key, (least, most) in bounds.items():
        value = provider.number(f"{_BASE}.{key}")
        if value is not None and not least <= value <= most:
            text = f"{key} is {value:g}; it must be {least}-{most}"
            yield Hit(provider, f"{_BASE}.{key}", text)
