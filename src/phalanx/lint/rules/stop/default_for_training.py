"""Training that gets half a minute for its last checkpoint."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import trains
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="STP005",
    slug="default-stop-timeout-for-training",
    severity="info",
    areas=("stop",),
    on=Container,
    message="A training has the default stop time-out of 30 s for its last checkpoint",
    why="Checkpoints of many gigabytes are seldom written in 30 s; what is not finished by then "
    "is lost (unless every save is already durable when SIGTERM comes).",
    fix="Measure a save and set stopTimeout above it, at most 120 s on Spot and Fargate.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_ContainerDefinition.html",
            "2026-05-20",
        ),
    ),
    facts=("TRN-68",),
)
def default_stop_timeout_for_training(container: Container, world: World) -> Found:
    """Accelerated training in task definitions; silent where an agent setting may say more."""
    if container.workload.flavour != "ecs" or container.has("stopTimeout"):
        return
    if not container.is_accelerated or not trains(container):
        return
    for template in world.near(container, LaunchTemplate):
        data = template.user_data
        if data is None or not data.is_whole or "ECS_CONTAINER_STOP_TIMEOUT" in data.settings:
            return
    yield Hit(container, "stopTimeout")
