"""Containers of Managed Instances whose output nobody can reach."""

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
    message="The container has no log configuration, and nobody can log in to the host",
    why="Managed Instances have no SSH and no user data: output without a log driver is out of "
    "reach, and gone with the host, the trace of the rank that failed first included.",
    fix="Add logConfiguration with awslogs (mode and max-buffer-size said), or FireLens.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/using_awslogs.html",
            "2026-07-09",
        ),
    ),
    facts=("MON-13", "MON-26", "CMP-50"),
)
def container_without_logs(container: Container, world: World) -> Found:
    """Accelerated tasks that run on Managed Instances alone. Elsewhere the daemon may ship logs."""
    workload = container.workload
    if workload.flavour != "ecs" or not container.is_accelerated:
        return
    managed = [provider.is_managed_instances for provider in workload.providers]
    alone = workload.launch_types == {"MANAGED_INSTANCES"} or (bool(managed) and all(managed))
    if alone and not container.has("logConfiguration"):
        yield Hit(container, "logConfiguration")
