"""A stop time-out that outlives a Spot instance."""

from __future__ import annotations

from phalanx.facts.rows import settled
from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.entity import Entity
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.userdata import seconds
from phalanx.lint.workload import Container, JobFile
from phalanx.lint.world import World


@rule(
    id="STP001",
    slug="stop-timeout-longer-than-spot-notice",
    severity="warning",
    areas=("stop", "spot"),
    on=Entity,
    message="The stop time-out is longer than the two minutes that Spot gives",
    why="The host is gone two minutes after the notice, whatever the time-out says; whoever "
    "relies on it loses the last checkpoint.",
    fix="Set it to less than 120 s on Spot, and make the last checkpoint fit well inside that.",
    sources=(
        (
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html",
            "undated",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_ContainerDefinition.html",
            "2026-05-20",
        ),
    ),
    facts=("TRN-69", "TRN-94"),
)
def stop_timeout_longer_than_spot_notice(entity: Entity, world: World) -> Found:
    """The agent's setting in user data of Spot hosts; `stopTimeout` and `stop.grace` on Spot."""
    notice = settled("spot.notice-s")
    if isinstance(entity, Container):
        wanted = entity.number("stopTimeout")
        if wanted is not None and wanted > notice and entity.workload.is_spot:
            yield Hit(entity, "stopTimeout", f"stopTimeout is {wanted:g} s; Spot gives {notice} s")
    elif isinstance(entity, JobFile):
        grace = seconds(entity.text("stop.grace") or "")
        if grace is not None and grace > notice and entity.is_spot:
            yield Hit(entity, "stop.grace", f"stop.grace is {grace:g} s; Spot gives {notice} s")
    elif isinstance(entity, LaunchTemplate):
        spot = entity.market == "spot" or any(g.is_spot for g in entity.scaling_groups)
        text = (
            entity.user_data.settings.get("ECS_CONTAINER_STOP_TIMEOUT")
            if (spot and entity.user_data)
            else None
        )
        limit = seconds(text) if text else None
        if limit is not None and limit > notice:
            yield Hit(
                entity,
                "userData",
                f"ECS_CONTAINER_STOP_TIMEOUT is {text}, but Spot takes the host after {notice} s",
            )
