"""A GPU asked for on Fargate."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

PAGE = "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-tasks-services.html"


@rule(
    id="HST001",
    slug="fargate-gpu",
    severity="error",
    areas=("host",),
    on=Container,
    message="A GPU is asked for on Fargate, which has none",
    why="Fargate has no accelerator of any kind: the task definition or the launch is refused.",
    fix="Run it on the EC2 launch type, on Managed Instances or on External (Anywhere) capacity. "
    "If the rest should stay on Fargate, move the GPU part into a task of its own.",
    sources=((PAGE, "2026-07-10"),),
    guards=("GR1",),
    facts=("CMP-01", "CMP-04"),
)
def fargate_gpu(container: Container, world: World) -> Found:
    """The requirement, where FARGATE is among the compatibilities or the launcher says so."""
    workload = container.workload
    wants = container.wants_gpu or container.wants_neuron
    if wants and workload.flavour in ("ecs", "batch") and on_fargate(container):
        what = "GPU" if container.wants_gpu else "Neuron device"
        yield Hit(
            container,
            "resourceRequirements",
            f"Container {container.name or 'here'} asks for a {what}, and Fargate has none",
        )


def on_fargate(container: Container) -> bool:
    """The workload says FARGATE, or something starts it there."""
    workload = container.workload
    if workload.launch_types:
        return "FARGATE" in workload.launch_types
    return any(launcher.is_fargate for launcher in workload.launchers)
