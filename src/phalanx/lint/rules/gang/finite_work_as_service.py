"""Training that ends, held by a service that does not."""

from __future__ import annotations

from phalanx.lint.launch import Service
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import is_ray, trains
from phalanx.lint.world import World


@rule(
    id="GNG004",
    slug="finite-work-as-service",
    severity="warning",
    areas=("gang",),
    on=Service,
    message="Training ranks that end by themselves run as a service",
    why="A service holds its desired count: when the ranks exit 0, it starts them again from the "
    "beginning, and it replaces a lost rank alone while its siblings wait.",
    fix="Start finite ranks with RunTask (or Batch) and let the job's controller relaunch them; "
    "keep a service of one for a head or coordinator only.",
    sources=(
        ("https://github.com/aws/amazon-ecs-agent/issues/1236", "undated"),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/standalone-tasks.html",
            "2026-07-10",
        ),
    ),
    facts=("TRN-01", "TRN-02"),
)
def finite_work_as_service(service: Service, world: World) -> Found:
    """Accelerated tasks whose command trains and that offer nothing to call."""
    task = service.task
    if task is None or not task.is_accelerated or service.items("loadBalancers"):
        return
    if service.desired == 0 or service.is_daemon:
        return
    containers = [c for c in task.containers if c.is_accelerated]
    if containers and all(trains(c) and not is_ray(c) for c in containers):
        yield Hit(service)
