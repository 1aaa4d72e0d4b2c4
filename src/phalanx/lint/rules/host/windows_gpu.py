"""An accelerator asked for in Windows containers."""

from __future__ import annotations

import re

from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_WINDOWS = Pattern(
    r"ecs\.os-(?:type|family)\s*(?:==|=~|equals|matches)\s*\"?windows", re.IGNORECASE
)


@rule(
    id="HST005",
    slug="windows-accelerator",
    severity="error",
    areas=("host", "gpu", "neuron"),
    on=Container,
    message="An accelerator is asked for in a Windows container, where ECS has none",
    why="ECS hands GPUs and Neuron devices to Linux containers only, on every kind of host.",
    fix="Run the accelerator part as a Linux task of its own (runtimePlatform LINUX).",
    sources=(
        ("https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-gpu.html", "2026-07-10"),
    ),
    facts=("CMP-04", "NEU-01"),
)
def windows_accelerator(container: Container, world: World) -> Found:
    """The platform of the task, or a placement constraint, says Windows."""
    task = container.workload
    if task.flavour != "ecs" or not container.is_accelerated:
        return
    system = task.text("runtimePlatform.operatingSystemFamily") or ""
    pins = [c.text("expression") or "" for c in task.items("placementConstraints")]
    if system.upper().startswith("WINDOWS") or any(_WINDOWS.search(pin) for pin in pins):
        wants = container.wants_gpu or container.wants_neuron
        yield Hit(container, "resourceRequirements" if wants else "linuxParameters.devices")
