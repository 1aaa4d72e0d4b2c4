"""Far more GPU memory than the model needs."""

from __future__ import annotations

from phalanx.lint.engines import hub_model, weights_mib
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import serves, types_of
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_TIMES = 8


@rule(
    id="CST003",
    slug="gpu-larger-than-model-needs",
    severity="info",
    areas=("cost", "serving"),
    on=Container,
    message="The cards have many times the memory that the model's weights need",
    why="Choose by memory first, then by throughput: a smaller card, or fewer of them, often serve "
    "the same model (unless long contexts or large batches fill the rest with cache).",
    fix="Watch GPU memory and utilisation under load; below 50 percent take a smaller type, a "
    "share of a card, or put several models on one.",
    sources=(
        ("https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-gpu.html", "2026-07-10"),
    ),
    facts=("CST-04", "SRV-08", "MON-21"),
)
def gpu_larger_than_model_needs(container: Container, world: World) -> Found:
    """The size that the model's name says, against the smallest type that the task can land on."""
    model = hub_model(container)
    if model is None or not container.gpus or not serves(container):
        return
    needs = weights_mib(container, model[1])
    rows = types_of(container)
    if not needs or not rows or not all(row.gpus for row in rows):
        return
    has = container.gpus * min(row.device_memory_mib for row in rows)
    if has > _TIMES * needs:
        text = f"{model[1]} has weights of about {needs / 1024:.0f} GiB; its cards have"
        yield Hit(container, "resourceRequirements", f"{text} {has / 1024:.0f} GiB")
