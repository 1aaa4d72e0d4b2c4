"""One role for the task and for its execution."""

from __future__ import annotations

from phalanx.lint.entity import Node
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.values import HOLE, Ref
from phalanx.lint.workload import Workload
from phalanx.lint.world import World


@rule(
    id="SEC004",
    slug="one-role-for-task-and-execution",
    severity="warning",
    areas=("security",),
    on=Workload,
    message="The task role is also the execution role",
    why="The execution role may read every secret and pull every image of the task. As the task "
    "role it hands that to the program, and to whoever gets into it.",
    fix="Make two roles: taskRoleArn with what the program calls, executionRoleArn with pulling, "
    "logs and the named secrets.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task_execution_IAM_role.html",
            "2026-07-10",
        ),
    ),
    guards=("SB1",),
    facts=("SCY-01",),
)
def one_role_for_task_and_execution(workload: Workload, world: World) -> Found:
    """Task definitions and Batch containers; the same text, or the same reference."""
    if _same(workload.raw("taskRoleArn"), workload.raw("executionRoleArn")):
        yield Hit(workload, "taskRoleArn")
    nodes: list[Node] = [workload.node("containerProperties")]
    nodes += [g.node("container") for g in workload.items("nodeProperties.nodeRangeProperties")]
    for node in nodes:
        if _same(node.raw("jobRoleArn"), node.raw("executionRoleArn")):
            yield Hit(node, "jobRoleArn")


def _same(one: object, other: object) -> bool:
    if isinstance(one, Ref):
        return one == other
    return isinstance(one, str) and bool(one) and HOLE not in one and one == other
