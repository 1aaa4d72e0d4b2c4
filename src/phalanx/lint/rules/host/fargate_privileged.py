"""A privileged container on Fargate."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.host.fargate_gpu import PAGE, on_fargate
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="HST003",
    slug="fargate-privileged",
    severity="error",
    areas=("host", "security"),
    on=Container,
    message="A privileged container is asked for on Fargate",
    why="Fargate has no privileged containers: the task definition or the launch is refused.",
    fix="Remove privileged. What needs the host's devices runs on the EC2 launch type.",
    sources=((PAGE, "2026-07-10"),),
    guards=("GR1",),
    facts=("CMP-01", "CMP-02"),
)
def fargate_privileged(container: Container, world: World) -> Found:
    """`privileged: true`, where the task runs on Fargate."""
    if container.workload.flavour not in ("ecs", "batch") or not container.is_privileged:
        return
    if on_fargate(container):
        yield Hit(container, "privileged")
