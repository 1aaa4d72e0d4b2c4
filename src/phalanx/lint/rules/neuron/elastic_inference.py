"""Elastic Inference, which is closed."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import TaskDefinition
from phalanx.lint.world import World


@rule(
    id="NEU010",
    slug="elastic-inference-closed",
    severity="error",
    areas=("neuron",),
    on=TaskDefinition,
    message="Elastic Inference accelerators are asked for, and the service is closed",
    why="The members inferenceAccelerators and InferenceAccelerator remain for old definitions; "
    "there is nothing behind them any more, so the task is never placed.",
    fix="Use Inferentia (Inf2) with the Neuron SDK, or a small GPU type.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_InferenceAccelerator.html",
            "2026-05-20",
        ),
    ),
    facts=("BND-14", "NEU-15"),
)
def elastic_inference_closed(task: TaskDefinition, world: World) -> Found:
    """The member of the task, else the requirement of a container."""
    if task.items("inferenceAccelerators"):
        yield Hit(task, "inferenceAccelerators")
        return
    for container in task.containers:
        for n, need in enumerate(container.items("resourceRequirements")):
            if need.text("type") == "InferenceAccelerator":
                yield Hit(container, f"resourceRequirements[{n}]")
                return
