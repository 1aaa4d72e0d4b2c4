"""Two forms of GPU sharing in one task."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import TaskDefinition
from phalanx.lint.world import World

API = "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/"
NONE = frozenset({"", "void", "none"})


@rule(
    id="GPU001",
    slug="gpu-sharing-mixed",
    severity="warning",
    areas=("gpu",),
    on=TaskDefinition,
    message="GPU requirements of different forms in one task",
    why="A requirement names either a count or a sharing strategy, and every GPU container of a "
    "task must use the same form. A container that helps itself by NVIDIA_VISIBLE_DEVICES "
    "beside them uses a card that ECS thinks is taken.",
    fix="Choose one form: value for whole cards, or sharingStrategy.nvidiaMps in every container.",
    sources=(
        (API + "API_SharingStrategy.html", "undated"),
        (API + "API_ResourceRequirement.html", "undated"),
    ),
    facts=("CMP-35", "CMP-24"),
)
def gpu_sharing_mixed(task: TaskDefinition, world: World) -> Found:
    """Within one requirement, and between containers; a helper by variable is an info."""
    counted, shared = [], []
    for container in task.containers:
        for need in container.items("resourceRequirements"):
            if need.text("type") != "GPU":
                continue
            has_value, has_strategy = need.has("value"), need.has("sharingStrategy")
            if has_value and has_strategy:
                yield Hit(need, "value", "value and sharingStrategy in one GPU requirement")
            elif has_strategy:
                shared.append(need)
            elif has_value:
                counted.append(need)
    if counted and shared:
        yield Hit(counted[0], "value", "One container asks for whole cards, another shares by MPS")
    if counted or shared:
        yield from _beside(task)


def _beside(task: TaskDefinition) -> Found:
    for container in task.containers:
        variable = container.environment.get("NVIDIA_VISIBLE_DEVICES")
        helps_itself = variable and (variable.content or "").lower() not in NONE
        if variable and helps_itself and not container.wants_gpu:
            message = f"{container.name or 'A container'} helps itself to a card that is counted"
            yield Hit(variable, message=message, severity="info")
