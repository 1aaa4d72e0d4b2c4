"""A GPU asked for on Fargate."""

from __future__ import annotations

from phalanx.lint.entity import Entity, Node
from phalanx.lint.launch import RunTask
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

PAGE = "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-tasks-services.html"


@rule(
    id="HST001",
    slug="fargate-gpu",
    severity="error",
    areas=("host",),
    on=Entity,
    message="A GPU is asked for on Fargate, which has none",
    why="Fargate has no accelerator of any kind: the task definition or the launch is refused.",
    fix="Run it on the EC2 launch type, on Managed Instances or on External (Anywhere) capacity. "
    "If the rest should stay on Fargate, move the GPU part into a task of its own.",
    sources=((PAGE, "2026-07-10"),),
    guards=("GR1",),
    facts=("CMP-01", "CMP-04"),
)
def fargate_gpu(entity: Entity, world: World) -> Found:
    """The requirement of a container, or of an override, that is to run on Fargate."""
    if isinstance(entity, RunTask) and entity.is_fargate:
        for override in entity.items("overrides.containerOverrides"):
            yield from _said(override, override.text("name"), _wanted(override))
    elif isinstance(entity, Container) and entity.workload.flavour in ("ecs", "batch"):
        wanted = _wanted(entity)
        if wanted and on_fargate(entity):
            yield from _said(entity, entity.name, wanted)


def _wanted(node: Node) -> str:
    kinds = [need.text("type") for need in node.items("resourceRequirements")]
    if "GPU" in kinds:
        return "GPU"
    return "Neuron device" if "NeuronDevice" in kinds else ""


def _said(node: Node, name: str | None, what: str) -> Found:
    if what:
        message = f"Container {name or 'here'} asks for a {what}, and Fargate has none"
        yield Hit(node, "resourceRequirements", message)


def on_fargate(container: Container) -> bool:
    """The workload says FARGATE, or something starts it there."""
    workload = container.workload
    if workload.launch_types:
        return "FARGATE" in workload.launch_types
    return any(launcher.is_fargate for launcher in workload.launchers)
