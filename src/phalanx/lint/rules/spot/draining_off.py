"""Spot instances whose agent does not drain on a notice."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.values import HOLE
from phalanx.lint.world import World

_SETTING = "ECS_ENABLE_SPOT_INSTANCE_DRAINING"


@rule(
    id="SPT001",
    slug="spot-draining-off",
    severity="error",
    areas=("spot",),
    on=LaunchTemplate,
    message=f"Spot instances are started without {_SETTING}",
    why="The setting is off by default: the agent then ignores the two-minute notice, and tasks "
    "die with the host, without SIGTERM and without a last checkpoint.",
    fix=f"Write {_SETTING}=true to /etc/ecs/ecs.config, and keep the last checkpoint well inside "
    "the two minutes.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/"
            "spot-instance-draining-linux-container.html",
            "2026-07-10",
        ),
    ),
    guards=("GR6",),
    facts=("CAP-52", "CAP-15"),
)
def spot_draining_off(template: LaunchTemplate, world: World) -> Found:
    """Where the user data is known; a warning where managed draining of a provider may help."""
    spot = template.market == "spot" or any(g.is_spot for g in template.scaling_groups)
    data = template.user_data
    if not spot or data is None:
        return
    if data.is_bottlerocket:
        value = data.toml.get("enable-spot-instance-draining", "")
    else:
        if not any(name.startswith("ECS_") for name in data.settings) or not data.is_whole:
            return
        value = data.settings.get(_SETTING, "")
    if value.lower() == "true" or HOLE in value:
        return
    drained = any(group.capacity_providers for group in template.scaling_groups)
    yield Hit(template, "userData", severity="warning" if drained else "")
