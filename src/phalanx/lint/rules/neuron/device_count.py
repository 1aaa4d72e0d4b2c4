"""Neuron devices that the type has not got."""

from __future__ import annotations

from phalanx.facts.instances import API_PAGE
from phalanx.lint.hosts import allowed
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.neuron.managed_and_manual import PAGE
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_DEVICE = Pattern(r"/dev/neuron(\d+)$")


@rule(
    id="NEU009",
    slug="neuron-device-count",
    severity="error",
    areas=("neuron",),
    on=Container,
    message="A Neuron device is mapped that the type has not got",
    why="Device numbers differ between sizes: a path that the host has not got keeps the "
    "container from starting.",
    fix="Map /dev/neuron0 up to the number of devices of the pinned type, less one, and keep one "
    "task definition for each size.",
    sources=((PAGE, "2026-07-10"), (API_PAGE, "undated")),
    guards=("GR9",),
    facts=("NEU-14", "NEU-16"),
)
def neuron_device_count(container: Container, world: World) -> Found:
    """Against the largest type allowed; fewer devices than the type has is no mistake."""
    rows = allowed(container)
    if not rows:
        return
    most = max(rows, key=lambda row: row.neuron_devices)
    for n, device in enumerate(container.devices):
        match = _DEVICE.match(device.host_path)
        if match and int(match[1]) >= most.neuron_devices:
            has = f"has {most.neuron_devices}" if most.neuron_devices else "has none"
            message = f"{device.host_path} is mapped; {most.name} {has}"
            yield Hit(container, f"linuxParameters.devices[{n}]", message)
            return
