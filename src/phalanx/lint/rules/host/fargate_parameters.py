"""Settings that Fargate refuses."""

from __future__ import annotations

from collections.abc import Iterator

from phalanx.lint.entity import Node
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.host.fargate_gpu import PAGE
from phalanx.lint.workload import TaskDefinition
from phalanx.lint.world import World

_TASK = ("ipcMode", "placementConstraints")
_CONTAINER = (
    "disableNetworking",
    "dnsSearchDomains",
    "dnsServers",
    "dockerSecurityOptions",
    "extraHosts",
    "links",
    "linuxParameters.sharedMemorySize",
    "linuxParameters.maxSwap",
    "linuxParameters.swappiness",
)


@rule(
    id="HST004",
    slug="fargate-invalid-parameter",
    severity="error",
    areas=("host", "placement", "storage"),
    on=TaskDefinition,
    message="A setting that Fargate refuses",
    why="Fargate shares no host: settings that reach the host's IPC, network, placement or "
    "shared memory make the registration fail.",
    fix="Remove the setting, or run the task on the EC2 launch type or Managed Instances.",
    sources=((PAGE, "2026-07-10"),),
    facts=("CMP-01", "CMP-02"),
)
def fargate_invalid_parameter(task: TaskDefinition, world: World) -> Found:
    """Only where the task says FARGATE and asks for no accelerator, which is the larger mistake."""
    if "FARGATE" not in task.launch_types or task.is_accelerated:
        return
    for node, path in _written(task):
        yield Hit(node, path, f"{path.rpartition('.')[2]} is refused on Fargate")


def _written(task: TaskDefinition) -> Iterator[tuple[Node, str]]:
    for path in _TASK:
        if _is_set(task, path):
            yield task, path
    for container in task.containers:
        for path in _CONTAINER:
            if _is_set(container, path):
                yield container, path


def _is_set(node: Node, path: str) -> bool:
    return node.raw(path) not in (None, [], {}, "", False) and (
        bool(node.items(path)) or bool(node.text(path)) or node.flag(path) is True
    )
