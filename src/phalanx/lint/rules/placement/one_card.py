"""Containers of one task that want the same card."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.placement.gpu_count import most_gpus
from phalanx.lint.workload import TaskDefinition
from phalanx.lint.world import World


@rule(
    id="PLC004",
    slug="containers-want-one-card",
    severity="error",
    areas=("placement", "gpu"),
    on=TaskDefinition,
    message="The containers of the task together want more GPUs than the type has",
    why="A GPU requirement pins whole cards to one container; the requirements of a task add up "
    "and must fit on one host. Two containers cannot ask for the same card.",
    fix="Give the card to one container, use a type with enough cards, or share one card by MPS "
    "(sharingStrategy) in every GPU container of the task.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-gpu-specifying.html",
            "2026-05-20",
        ),
    ),
    facts=("CMP-29", "CMP-38"),
)
def containers_want_one_card(task: TaskDefinition, world: World) -> Found:
    """Where each fits by itself, and the sum does not."""
    wanting = [c for c in task.containers if c.wants_gpu]
    counts = [c.gpus or 0.0 for c in wanting]
    if len(wanting) < 2:
        return
    whole = [c for c in wanting if any(n.text("value") == "ALL" for n in c.items(_NEEDS))]
    if whole and len(wanting) > 1:
        message = f"{whole[0].name or 'One container'} takes ALL GPUs, and another asks for more"
        yield Hit(wanting[-1], _NEEDS, message)
        return
    largest = most_gpus(wanting[0])
    if largest is None or not largest.gpus or max(counts) > largest.gpus:
        return
    if sum(counts) > largest.gpus:
        message = f"{len(wanting)} containers want {sum(counts):g} GPUs; {largest.name} has "
        yield Hit(wanting[-1], _NEEDS, message + f"{largest.gpus}")


_NEEDS = "resourceRequirements"
