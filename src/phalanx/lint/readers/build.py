"""Entities from normalised data: the parts that every kind of file shares."""

from __future__ import annotations

from typing import Any

from phalanx.lint.entity import Entity, Node, Scope
from phalanx.lint.launch import RunTask
from phalanx.lint.place import Origin, Path
from phalanx.lint.values import Unknown
from phalanx.lint.workload import Container, Environment, JobDefinition, TaskDefinition, Workload


def task_definition(
    data: Any, origin: Origin, base: Path = (), *, address: str = "", scope: Scope = ("", 0)
) -> list[Entity]:
    """A task definition with its containers and their environments."""
    task = TaskDefinition(data, origin, base, address=address, scope=scope)
    containers = task.items("containerDefinitions")
    return [task, *with_containers(task, containers)]


def with_containers(workload: Workload, nodes: list[Node]) -> list[Entity]:
    """The containers of a workload, which is told of them, and their environments."""
    out: list[Entity] = []
    for node in nodes:
        if isinstance(node.data, Unknown) or not isinstance(node.data, dict):
            continue
        container = Container(node.data, node.origin, node.base, workload, workload.scope)
        workload.containers.append(container)
        out.append(container)
        out.append(container.environment)
    return out


def job_definition(
    data: Any, origin: Origin, base: Path = (), *, address: str = "", scope: Scope = ("", 0)
) -> list[Entity]:
    """A Batch job definition; every node range gives its own container."""
    job = JobDefinition(data, origin, base, address=address, scope=scope)
    nodes = [job.node("containerProperties")]
    nodes += job.items("ecsProperties.taskProperties[0].containers")
    for group in job.items("nodeProperties.nodeRangeProperties"):
        nodes.append(group.node("container"))
        nodes += group.items("ecsProperties.taskProperties[0].containers")
    return [job, *with_containers(job, nodes)]


def run_task(
    data: Any, origin: Origin, base: Path = (), *, address: str = "", scope: Scope = ("", 0)
) -> list[Entity]:
    """A RunTask or StartTask input with the environments of its overrides."""
    run = RunTask(data, origin, base, address=address, scope=scope)
    out: list[Entity] = [run]
    for override in run.items("overrides.containerOverrides"):
        node = override.node("environment")
        if isinstance(node.data, list):
            out.append(Environment(node.data, node.origin, node.base, scope=scope))
    return out
