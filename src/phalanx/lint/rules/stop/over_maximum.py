"""A stop time-out above the maximum."""

from __future__ import annotations

from phalanx.facts.rows import settled
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="STP003",
    slug="stop-timeout-over-maximum",
    severity="error",
    areas=("stop",),
    on=Container,
    message="stopTimeout is above the maximum of 120 s",
    why="Fargate takes at most 120 s: the task definition, or the launch, is refused.",
    fix="Set stopTimeout to at most 120, and make what happens at the end fit into it: save "
    "beforehand, at the end only what is new.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_ContainerDefinition.html",
            "2026-05-20",
        ),
    ),
    facts=("TRN-68", "TRN-69"),
)
def stop_timeout_over_maximum(container: Container, world: World) -> Found:
    """Fargate alone: an error; Fargate among others: a warning. No bound is documented on EC2."""
    workload = container.workload
    wanted = container.number("stopTimeout")
    limit = settled("fargate.stop-timeout-max-s")
    if wanted is None or wanted <= limit or workload.flavour != "ecs":
        return
    fargate = "FARGATE" in workload.launch_types
    if fargate or any(launcher.is_fargate for launcher in workload.launchers):
        alone = workload.launch_types <= {"FARGATE"}
        yield Hit(
            container,
            "stopTimeout",
            f"stopTimeout is {wanted:g} s; Fargate takes at most {limit} s",
            severity="" if alone else "warning",
        )
