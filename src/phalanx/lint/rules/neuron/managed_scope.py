"""NeuronDevice outside Managed Instances."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.neuron.managed_and_manual import PAGE
from phalanx.lint.workload import Container, TaskDefinition
from phalanx.lint.world import World

_KINDS = "requiresCompatibilities"


@rule(
    id="NEU005",
    slug="neuron-device-not-managed",
    severity="error",
    areas=("neuron", "host"),
    on=Container,
    message="NeuronDevice is asked for, but the task is not for Managed Instances",
    why="Managed allocation of Neuron devices exists on Managed Instances only, and the task "
    "definition must name MANAGED_INSTANCES in requiresCompatibilities.",
    fix="Add MANAGED_INSTANCES to requiresCompatibilities and launch by its capacity provider; on "
    "EC2 map /dev/neuron<N> in linuxParameters.devices instead.",
    sources=((PAGE, "2026-07-10"),),
    facts=("NEU-08", "NEU-11"),
)
def neuron_device_not_managed(container: Container, world: World) -> Found:
    """Fargate has a rule of its own."""
    task = container.workload
    if not isinstance(task, TaskDefinition) or not container.wants_neuron:
        return
    if task.has(_KINDS) and not isinstance(task.raw(_KINDS), list):
        return
    if not task.launch_types & {"MANAGED_INSTANCES", "FARGATE"}:
        yield Hit(container, "resourceRequirements")
