"""Cards that are held by a program that does nothing."""

from __future__ import annotations

import re

from phalanx.lint.infra import ScalableTarget
from phalanx.lint.launch import Service
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_IDLE = Pattern(r"\bsleep\s+(?:infinity|inf|\d{5,}|\d+d)\b|\btail\s+-[fF]\s+/dev/null\b")
_SPLIT = Pattern(r"&&|\|\||[;&|\n]")
_QUIET = Pattern(r"(?:exec\s+)?(?:sleep|tail|echo|date|true|:|set|trap|wait|nvidia-smi)\b|:$")
_NOTEBOOK = Pattern(r"\bjupyter(?:-?lab|-?notebook|hub)?\b|\bcode-server\b|\brstudio\b", re.I)


@rule(
    id="CST001",
    slug="idle-gpu-without-stop-rule",
    severity="warning",
    areas=("cost",),
    on=Container,
    message="A card is held by something that is mostly idle, and nothing stops it",
    why="A GPU is reserved, and paid for, as long as the task runs. A container that sleeps, or a "
    "notebook as a service, holds it over nights and weekends.",
    fix="Run the work itself as a task that ends; give notebooks a schedule or an alarm that sets "
    "the desired count to 0, and let them ask for a share of a card.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/cluster-auto-scaling.html",
            "2026-07-10",
        ),
    ),
    facts=("CST-05", "CST-11"),
)
def idle_gpu_without_stop_rule(container: Container, world: World) -> Found:
    """Sleeping as the command: a warning. A notebook as a service that nothing scales: an info."""
    if not container.is_accelerated or container.workload.flavour not in ("ecs", "batch"):
        return
    text = container.command.text
    if _IDLE.search(text) and _only_idles(container.command.script or text):
        yield Hit(container.command.node, message="A card is held by a container that sleeps")
        return
    image = container.text("image") or ""
    if not (_NOTEBOOK.search(text) or _NOTEBOOK.search(image.rpartition("/")[2])):
        return
    for service in container.workload.launchers:
        if isinstance(service, Service) and (service.desired or 0) > 0:
            if world.near(service, ScalableTarget):
                return
            text = "A notebook holds a card as a service that nothing scales down"
            yield Hit(service, "desiredCount", text, severity="info")


def _only_idles(script: str) -> bool:
    parts = [part.strip() for part in _SPLIT.split(script) if part.strip()]
    return all(_QUIET.match(part) for part in parts)
