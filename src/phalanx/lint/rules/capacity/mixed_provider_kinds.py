"""A strategy over providers of different kinds."""

from __future__ import annotations

from phalanx.lint.launch import Launcher
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="CAP011",
    slug="strategy-mixes-provider-kinds",
    severity="error",
    areas=("capacity", "host"),
    on=Launcher,
    message="The strategy mixes kinds of capacity providers",
    why="A strategy holds providers of one kind: scaling groups, Managed Instances, or Fargate. "
    "A cluster may hold all of them, a strategy may not.",
    fix="Use one service or RunTask call for each kind of capacity.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/"
            "capacity-launch-type-comparison.html",
            "2026-07-10",
        ),
    ),
    facts=("CAP-22",),
)
def strategy_mixes_provider_kinds(launcher: Launcher, world: World) -> Found:
    """By the reserved names of Fargate and by providers in the world."""
    kinds: dict[str, str] = {}
    for item in launcher.strategy:
        name = item.text("capacityProvider") or ""
        if name in ("FARGATE", "FARGATE_SPOT"):
            kinds["Fargate"] = name
    for provider in launcher.capacity_providers:
        name = provider.name or provider.address
        if provider.is_managed_instances:
            kinds["Managed Instances"] = name
        elif provider.has("autoScalingGroupProvider"):
            kinds["scaling group"] = name
    if len(kinds) > 1:
        said = ", ".join(f"{name} ({kind})" for kind, name in kinds.items())
        yield Hit(launcher, "capacityProviderStrategy", f"The strategy mixes {said}")
