"""Neuron devices handed over twice."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import TaskDefinition
from phalanx.lint.world import World

PAGE = "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-inference.html"


@rule(
    id="NEU002",
    slug="neuron-managed-and-manual",
    severity="error",
    areas=("neuron",),
    on=TaskDefinition,
    message="Neuron devices are both asked for and mapped by hand",
    why="NeuronDevice lets ECS hand over every device of the host; device maps do the same by "
    "hand. The two in one task are refused.",
    fix="Managed Instances: keep NeuronDevice = ALL and remove the maps. EC2: keep the maps.",
    sources=((PAGE, "2026-07-10"),),
    facts=("NEU-07", "NEU-08"),
)
def neuron_managed_and_manual(task: TaskDefinition, world: World) -> Found:
    """In one container or in two of the same task."""
    wanting = [c for c in task.containers if c.wants_neuron]
    mapping = [c for c in task.containers if c.maps("/dev/neuron")]
    if wanting and mapping:
        yield Hit(mapping[0], "linuxParameters.devices")
