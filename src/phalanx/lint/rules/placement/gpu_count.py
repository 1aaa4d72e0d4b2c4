"""More GPUs than the type has."""

from __future__ import annotations

from phalanx.facts.instances import API_PAGE, InstanceType
from phalanx.lint.hosts import allowed
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="PLC003",
    slug="gpu-count-above-type",
    severity="error",
    areas=("placement", "gpu"),
    on=Container,
    message="More GPUs are asked for than the only type allowed has",
    why="A task runs on one host: no host of this type can ever meet the requirement, so the "
    "task waits, or fails, for ever.",
    fix="Ask for at most the number of the type, or allow a larger type. More cards than one "
    "host has need several tasks that work together.",
    sources=(
        (API_PAGE, "undated"),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-gpu-specifying.html",
            "2026-05-20",
        ),
    ),
    guards=("GR9",),
    facts=("CMP-29", "CMP-33"),
)
def gpu_count_above_type(container: Container, world: World) -> Found:
    """Against the largest type allowed; types of other makers and fractional ones stay out."""
    if container.workload.flavour not in ("ecs", "batch") or not container.wants_gpu:
        return
    largest = most_gpus(container)
    wanted = container.gpus
    if largest is None or wanted is None or wanted <= largest.gpus:
        return
    for n, need in enumerate(container.items("resourceRequirements")):
        if need.text("type") == "GPU":
            has = f"has {largest.gpus}" if largest.gpus else "has no GPU"
            message = f"{wanted:g} GPUs are asked for; {largest.name} {has}"
            yield Hit(container, f"resourceRequirements[{n}].value", message)


def most_gpus(container: Container) -> InstanceType | None:
    """The allowed type with the most GPUs; None when not all are known NVIDIA or CPU types."""
    rows = allowed(container)
    if not rows or any(row.is_fractional or (row.count and not row.gpus) for row in rows):
        return None
    return max(rows, key=lambda row: row.gpus)
