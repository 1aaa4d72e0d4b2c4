"""Collectives that wait for ever for a lost rank."""

from __future__ import annotations

import re

from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import is_ray, trains
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_OFF = ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "NCCL_ASYNC_ERROR_HANDLING")
_SIGNS = ("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "TORCH_NCCL_BLOCKING_WAIT", *_OFF)
_FLAG = Pattern(r"--?(?:ddp|dist|distributed|nccl|pg|process_group)?[-_.]?timeout\w*", re.I)


@rule(
    id="GNG011",
    slug="process-group-timeout-missing",
    severity="warning",
    areas=("gang", "nccl"),
    on=Container,
    message="Nothing bounds how long the ranks wait for a lost one",
    why="When a rank dies, the others wait in a collective until the process group's time-out; "
    "with error handling switched off they wait for ever and hold their GPUs.",
    fix="Give init_process_group a timeout that fits your longest collective (minutes), and leave "
    "TORCH_NCCL_ASYNC_ERROR_HANDLING on.",
    sources=(("https://docs.pytorch.org/docs/stable/distributed.html", "undated"),),
    facts=("TRN-55",),
)
def process_group_timeout_missing(container: Container, world: World) -> Found:
    """A warning where error handling is off; no sign of a time-out in a large run is an info."""
    environment, nodes = container.environment, container.workload.nodes or 0
    for name in _OFF:
        variable = environment.get(name)
        if variable and variable.content == "0" and (nodes > 1 or container.is_accelerated):
            yield Hit(variable, message=f"{name}=0: a lost rank is never noticed")
            return
    if nodes < 2 or not container.is_accelerated or container.workload.flavour == "job":
        return
    if not trains(container) or is_ray(container) or not environment.is_known:
        return
    if not any(environment.get(name) for name in _SIGNS) and not _FLAG.search(
        container.command.text
    ):
        yield Hit(container.command.node, severity="info")
