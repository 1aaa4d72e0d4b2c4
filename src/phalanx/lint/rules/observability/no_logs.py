"""Accelerated containers whose output goes nowhere."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="OBS004",
    slug="container-without-logs",
    severity="info",
    areas=("observability",),
    on=Container,
    message="The container has no log configuration: its output stays on the host",
    why="When the host is gone, so is the stack trace of the rank that failed first (unless the "
    "Docker daemon of the host ships logs).",
    fix="Add logConfiguration with awslogs (mode and max-buffer-size said), or FireLens.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/using_awslogs.html",
            "2026-07-09",
        ),
    ),
    facts=("MON-26", "MON-28"),
)
def container_without_logs(container: Container, world: World) -> Found:
    """Task definitions; Batch sends logs to CloudWatch by itself."""
    if container.workload.flavour != "ecs" or not container.is_accelerated:
        return
    if not container.has("logConfiguration"):
        yield Hit(container, "logConfiguration")
