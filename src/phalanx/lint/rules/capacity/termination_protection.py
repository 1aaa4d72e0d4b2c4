"""Managed termination protection switched off on a GPU group."""

from __future__ import annotations

import re

from phalanx.lint.capacity import CapacityProvider
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import has_accelerator
from phalanx.lint.world import World

_NAME = Pattern(r"gpu|neuron|cuda|\b[gp]\d+[a-z]*\b|inf[12]|trn[12]", re.IGNORECASE)
_PATH = "autoScalingGroupProvider.managedTerminationProtection"


@rule(
    id="CAP004",
    slug="termination-protection-off",
    severity="warning",
    areas=("capacity",),
    on=CapacityProvider,
    message="Managed termination protection is off on a GPU group",
    why="Scale-in may then end a host that still runs a task: hours of training or a loaded model "
    "are lost.",
    fix="Set managedTerminationProtection to ENABLED, with managed scaling on and new instances "
    "protected from scale-in in the group.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_AutoScalingGroupProvider.html",
            "2026-05-20",
        ),
    ),
    facts=("CAP-14",),
)
def termination_protection_off(provider: CapacityProvider, world: World) -> Found:
    """DISABLED is a warning; left out, which means the same, is an info on known GPU types."""
    if provider.is_managed_instances or not provider.has("autoScalingGroupProvider"):
        return
    types = provider.instance_types
    named = bool(_NAME.search(f"{provider.name or ''} {provider.address}"))
    accelerated = has_accelerator(types) if types else named
    if not accelerated:
        return
    if provider.text(_PATH) == "DISABLED":
        yield Hit(provider, _PATH)
    elif not provider.has(_PATH) and types:
        yield Hit(provider, _PATH, severity="info")
