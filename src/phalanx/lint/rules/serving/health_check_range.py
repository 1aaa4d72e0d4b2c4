"""Container health checks with values that are refused."""

from __future__ import annotations

from phalanx.facts.rows import settled
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_BOUNDS = {"interval": (5, 300), "timeout": (2, 60), "retries": (1, 10)}


@rule(
    id="SRV002",
    slug="health-check-out-of-range",
    severity="error",
    areas=("serving",),
    on=Container,
    message="A value of the container health check is out of its range",
    why="startPeriod is at most 300 s, interval 5-300 s, timeout 2-60 s, retries 1-10: the task "
    "definition is refused. Five minutes are not enough for a large model anyway.",
    fix="Use the service's healthCheckGracePeriodSeconds for slow loading; it covers container "
    "health checks too and has no such limit.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_HealthCheck.html",
            "2026-05-20",
        ),
    ),
    facts=("SRV-11", "SRV-10"),
)
def health_check_out_of_range(container: Container, world: World) -> Found:
    """Task definitions; 0 means off for startPeriod."""
    if container.workload.flavour != "ecs":
        return
    limits = {**_BOUNDS, "startPeriod": (0, settled("health.start-period-max-s"))}
    for key, (low, high) in limits.items():
        value = container.number(f"healthCheck.{key}")
        if value is not None and not low <= value <= high:
            text = f"{key} is {value:g}; it must be {low}-{high}"
            yield Hit(container, f"healthCheck.{key}", text)
