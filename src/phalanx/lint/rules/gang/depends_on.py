"""A dependency that waits for the end of an essential container."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import TaskDefinition
from phalanx.lint.world import World


@rule(
    id="GNG016",
    slug="depends-on-end-of-essential",
    severity="error",
    areas=("gang",),
    on=TaskDefinition,
    message="A container waits for the end of an essential container",
    why="The end of an essential container ends the task, so COMPLETE and SUCCESS are refused "
    "for it. Dependencies order containers of one task, never different ranks.",
    fix='Set "essential": false on the container that ends, or wait for START or HEALTHY.',
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_ContainerDependency.html",
            "2026-05-20",
        ),
    ),
    facts=("TRN-60",),
)
def depends_on_end_of_essential(task: TaskDefinition, world: World) -> Found:
    """COMPLETE or SUCCESS of a container that is essential, also by default."""
    essential = {
        c.name for c in task.containers if not c.has("essential") or c.flag("essential") is True
    }
    for container in task.containers:
        for need in container.items("dependsOn"):
            name, condition = need.text("containerName"), need.text("condition")
            if name and name in essential and condition in ("COMPLETE", "SUCCESS"):
                yield Hit(need, "condition", f"{name} is essential, so {condition} never comes")
