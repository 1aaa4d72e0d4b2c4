"""Neuron devices wanted by several containers."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.neuron.managed_and_manual import PAGE
from phalanx.lint.workload import TaskDefinition
from phalanx.lint.world import World


@rule(
    id="NEU004",
    slug="neuron-one-container",
    severity="error",
    areas=("neuron", "placement"),
    on=TaskDefinition,
    message="More than one container of the task wants the Neuron devices",
    why="Managed allocation gives all devices to one container of the task. By hand, a device "
    "that two containers map belongs to the process that opens it first.",
    fix="Keep the accelerated part in one container; give sidecars no device.",
    sources=((PAGE, "2026-07-10"),),
    facts=("NEU-08", "NEU-11", "NEU-14"),
)
def neuron_one_container(task: TaskDefinition, world: World) -> Found:
    """Two requirements are an error, one device mapped twice is a warning."""
    wanting = [c for c in task.containers if c.wants_neuron]
    if len(wanting) > 1:
        yield Hit(wanting[1], "resourceRequirements")
    seen: dict[str, str] = {}
    for container in task.containers:
        for device in container.devices:
            path = device.host_path
            if not path.startswith("/dev/neuron"):
                continue
            if seen.setdefault(path, container.name or "") != (container.name or ""):
                message = f"{path} is mapped into {seen[path]} and {container.name}"
                yield Hit(device, "hostPath", message, severity="warning")
                return
