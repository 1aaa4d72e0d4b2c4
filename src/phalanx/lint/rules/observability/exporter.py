"""Metric exporters that take a card for themselves."""

from __future__ import annotations

import re

from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_EXPORTER = Pattern(r"dcgm[-_]exporter|nvidia[-_](?:gpu|smi)[-_]exporter|gpu[-_]exporter", re.I)


@rule(
    id="OBS007",
    slug="exporter-reserves-a-gpu",
    severity="warning",
    areas=("observability",),
    on=Container,
    message="The metrics exporter asks for a GPU, which takes that card from the workload",
    why="A GPU requirement reserves whole cards. An exporter needs to see all of them, and with "
    "one reserved it sees only that, on a host that now has one card less to offer.",
    fix="Leave the GPU requirement out and give it NVIDIA_VISIBLE_DEVICES=all with nvidia as "
    "Docker's default runtime, or run the exporter on the host.",
    sources=(
        (
            "https://docs.nvidia.com/datacenter/dcgm/latest/gpu-telemetry/dcgm-exporter.html",
            "2026-07-10",
        ),
    ),
    facts=("MON-11", "MON-12"),
)
def exporter_reserves_a_gpu(container: Container, world: World) -> Found:
    """By image or command; compose hands out devices without reserving them."""
    if container.workload.flavour != "ecs" or not container.wants_gpu:
        return
    image = (container.text("image") or "").rpartition("/")[2]
    if _EXPORTER.search(image) or _EXPORTER.search(container.command.text):
        yield Hit(container, "resourceRequirements")
