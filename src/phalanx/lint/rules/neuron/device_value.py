"""A NeuronDevice requirement other than ALL."""

from __future__ import annotations

from phalanx.facts.rows import settled
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.neuron.managed_and_manual import PAGE
from phalanx.lint.values import HOLE
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="NEU003",
    slug="neuron-device-value",
    severity="error",
    areas=("neuron",),
    on=Container,
    message="NeuronDevice takes the value ALL only",
    why="A task gets every Neuron device of its instance, or none: there is no count.",
    fix='Write {"type": "NeuronDevice", "value": "ALL"} and choose the instance size that has as '
    "many devices as the task needs.",
    sources=((PAGE, "2026-07-10"),),
    facts=("NEU-07",),
)
def neuron_device_value(container: Container, world: World) -> Found:
    """Any known value; one that differs in letter case alone can be repaired."""
    right = settled("neuron.managed-value")
    for need in container.items("resourceRequirements"):
        value = need.text("value")
        if need.text("type") != "NeuronDevice" or value is None or HOLE in value:
            continue
        if value != right:
            repair = ("value", right) if value.upper() == right else None
            yield Hit(need, "value", f"NeuronDevice is {value!r}, not {right}", replace=repair)
