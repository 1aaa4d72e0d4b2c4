"""A launch type that goes past the capacity provider."""

from __future__ import annotations

from phalanx.lint.capacity import CapacityProvider
from phalanx.lint.launch import Launcher
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="CAP003",
    slug="launch-type-bypasses-capacity-provider",
    severity="warning",
    areas=("capacity", "host"),
    on=Launcher,
    message="The launch type EC2 goes past the capacity provider",
    why="Tasks with a launch type never wait in PROVISIONING and never make a capacity provider "
    "scale out: without a free host they fail at once.",
    fix="Name the capacity provider in capacityProviderStrategy and remove the launch type; the "
    "two exclude each other.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/managed-scaling-behavior.html",
            "2026-05-20",
        ),
    ),
    facts=("CAP-12",),
)
def launch_type_bypasses_capacity_provider(launcher: Launcher, world: World) -> Found:
    """Launch type EC2 while a provider of a scaling group is declared beside it."""
    if launcher.launch_type != "EC2" or launcher.has("capacityProviderStrategy"):
        return
    for provider in world.near(launcher, CapacityProvider):
        if provider.has("autoScalingGroupProvider"):
            name = provider.name or provider.address
            yield Hit(launcher, "launchType", f"Launch type EC2 goes past capacity provider {name}")
            return
