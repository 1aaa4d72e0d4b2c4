"""Termination protection that cannot be switched on."""

from __future__ import annotations

from phalanx.lint.capacity import CapacityProvider
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_PROVIDER = "autoScalingGroupProvider"
_GROUP = "newInstancesProtectedFromScaleIn"


@rule(
    id="CAP018",
    slug="termination-protection-without-scale-in-protection",
    severity="error",
    areas=("capacity",),
    on=CapacityProvider,
    message="Managed termination protection needs scale-in protection in the group",
    why="The provider is refused unless new instances of the group are protected from scale-in "
    "and managed scaling is on.",
    fix="Set NewInstancesProtectedFromScaleIn (protect_from_scale_in in Terraform) on the group "
    "and managed scaling to ENABLED.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_AutoScalingGroupProvider.html",
            "2026-05-20",
        ),
    ),
    facts=("CAP-14", "IAC-07"),
)
def termination_protection_without_scale_in_protection(
    provider: CapacityProvider, world: World
) -> Found:
    """Protection ENABLED in the provider, and missing or false in its group."""
    if provider.text(f"{_PROVIDER}.managedTerminationProtection") != "ENABLED":
        return
    if provider.text(f"{_PROVIDER}.managedScaling.status") == "DISABLED":
        text = "Managed termination protection needs managed scaling ENABLED"
        yield Hit(provider, f"{_PROVIDER}.managedScaling.status", text)
    group = provider.scaling_group
    if group is not None and (not group.has(_GROUP) or group.flag(_GROUP) is False):
        yield Hit(group, _GROUP)
