"""Shared memory as large as the container's memory."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container, TaskDefinition
from phalanx.lint.world import World

_PATH = "linuxParameters.sharedMemorySize"


@rule(
    id="STO006",
    slug="shm-as-large-as-memory",
    severity="warning",
    areas=("storage",),
    on=Container,
    message="sharedMemorySize is as large as the container's memory",
    why="What lies in /dev/shm counts against the container's memory limit: a loader that fills "
    "it ends in an out-of-memory kill, not in a full /dev/shm.",
    fix="Keep sharedMemorySize some GiB below the container's hard limit (memory), with room for "
    "the program itself.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_LinuxParameters.html",
            "2026-05-20",
        ),
    ),
    facts=("STO-28", "STO-26"),
)
def shm_as_large_as_memory(container: Container, world: World) -> Found:
    """Against the container's hard limit, else the task's memory. Both in MiB."""
    size = container.number(_PATH)
    limit = container.memory_mib
    if limit is None and not container.has("memory"):
        workload = container.workload
        limit = workload.memory_mib if isinstance(workload, TaskDefinition) else None
    if size is None or limit is None or limit <= 0 or size < limit:
        return
    yield Hit(container, _PATH, f"/dev/shm has {size:g} MiB, the container {limit:g} MiB in all")
