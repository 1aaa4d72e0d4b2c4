"""A capacity provider that can never add a host."""

from __future__ import annotations

from phalanx.lint.capacity import CapacityProvider
from phalanx.lint.infra import ScheduledAction
from phalanx.lint.launch import Launcher
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_SCALING = "autoScalingGroupProvider.managedScaling"


@rule(
    id="CAP006",
    slug="provider-can-never-scale",
    severity="error",
    areas=("capacity",),
    on=CapacityProvider,
    message="The capacity provider can never add a host",
    why="ECS changes neither the smallest nor the largest size of the group: with a largest size "
    "of 0, or with managed scaling off and an empty group, tasks wait in PROVISIONING for ever.",
    fix="Give the group a largest size above 0 and start it at 0; switch managed scaling on.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/asg-capacity-providers.html",
            "2026-07-10",
        ),
    ),
    facts=("CAP-16", "CAP-09"),
)
def provider_can_never_scale(provider: CapacityProvider, world: World) -> Found:
    """Largest size 0: an error. Scaling switched off on an empty group that tasks name: warning."""
    group = provider.scaling_group
    if group is None:
        return
    if world.near(group, ScheduledAction):
        return
    if group.number("maxSize") == 0:
        yield Hit(group, "maxSize", "The group of a capacity provider has a largest size of 0")
        return
    off = provider.text(f"{_SCALING}.status") == "DISABLED" or not provider.has(_SCALING)
    sizes = [group.number(key) for key in ("minSize", "desiredCapacity") if group.has(key)]
    empty = bool(sizes) and all(size == 0 for size in sizes)
    used = any(
        provider in launcher.capacity_providers for launcher in world.near(provider, Launcher)
    )
    if off and empty and used:
        yield Hit(
            provider,
            f"{_SCALING}.status" if provider.has(_SCALING) else _SCALING,
            "Managed scaling is off and the group is empty: nobody adds a host (unless something "
            "outside these files sets its size)",
            severity="warning",
        )
