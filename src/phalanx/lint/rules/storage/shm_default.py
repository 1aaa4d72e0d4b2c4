"""Loader workers on the default shared memory."""

from __future__ import annotations

from phalanx.facts.rows import settled
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_FLAG = Pattern(
    r"--(?:[\w-]*(?:data)?loader[-_])?num[-_]workers[=\s]+(\d+)"
    r"|--(?:data)?loader[-_]workers[=\s]+(\d+)|--workers[=\s]+(\d+)"
)
_NAMES = ("NUM_WORKERS", "DATALOADER_NUM_WORKERS", "DATALOADER_WORKERS", "LOADER_WORKERS")


@rule(
    id="STO001",
    slug="shm-default-with-loader",
    severity="warning",
    areas=("storage",),
    on=Container,
    message="Loader workers share the default 64 MiB of /dev/shm",
    why="Loader workers hand tensors over through shared memory. When it is full they die with a "
    "bus error, often minutes into the first epoch.",
    fix="Set linuxParameters.sharedMemorySize (MiB) to some GiB below the container's memory, or "
    "ipcMode host on dedicated instances.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_LinuxParameters.html",
            "2026-05-20",
        ),
        ("https://github.com/pytorch/pytorch/issues/5040", "undated"),
    ),
    facts=("STO-26", "STO-27"),
)
def shm_default_with_loader(container: Container, world: World) -> Found:
    """GPU containers with a number of loader workers above 0 and nothing that enlarges /dev/shm."""
    workload = container.workload
    if not container.wants_gpu or workload.flavour == "job" or not _workers(container):
        return
    if workload.text("ipcMode") in ("host", "task") or "FARGATE" in workload.launch_types:
        return
    if workload.has("ipcMode") and workload.text("ipcMode") is None:
        return
    if container.has("linuxParameters.sharedMemorySize"):
        size = container.number("linuxParameters.sharedMemorySize")
        if size is None or size > settled("shm.default-mib"):
            return
    mounts = container.items("linuxParameters.tmpfs") + container.items("mountPoints")
    if any((mount.text("containerPath") or "").startswith("/dev/shm") for mount in mounts):
        return
    yield Hit(
        container,
        "linuxParameters.sharedMemorySize",
        f"{_workers(container)} loader workers share the default 64 MiB of /dev/shm",
    )


def _workers(container: Container) -> int:
    match = _FLAG.search(container.command.text)
    if match and not (match[3] and container.is_server):
        return int(match[1] or match[2] or match[3])
    counts = [container.environment.number(name) or 0 for name in _NAMES]
    return int(max(counts))
