"""A task that asks for all the memory that is printed on the box."""

from __future__ import annotations

from phalanx.facts.instances import InstanceType
from phalanx.lint.entity import Node
from phalanx.lint.hosts import allowed
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container, TaskDefinition, Workload
from phalanx.lint.world import World

_FEW_MIB = 512
_FEW_PART = 0.03


@rule(
    id="PLC001",
    slug="memory-no-headroom",
    severity="error",
    areas=("placement",),
    on=Workload,
    message="The memory asked for is at least the nominal memory of the only type allowed",
    why="The agent registers what the kernel reports, less what is reserved: always below the "
    "nominal size. A request for the nominal size never fits, although the host looks idle.",
    fix="Leave a few percent, at least some hundred MiB, below the nominal size, or set "
    "memoryReservation with a lower figure.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/memory-management.html",
            "undated",
        ),
        ("https://github.com/OpenNeuroOrg/openneuro/issues/124", "undated"),
    ),
    facts=("CMP-27",),
)
def memory_no_headroom(workload: Workload, world: World) -> Found:
    """Error from the nominal size up; warning within a few percent below it."""
    if workload.flavour not in ("ecs", "batch") or not workload.containers:
        return
    node, path, wanted = _wanted(workload)
    rows = allowed(workload.containers[0])
    if not rows or wanted is None:
        return
    largest = max(rows, key=lambda row: row.memory_mib)
    reserved = _reserved(workload)
    if reserved and largest.memory_mib - reserved < wanted < largest.memory_mib:
        left = largest.memory_mib - reserved
        message = f"{wanted:g} MiB are asked for; ECS_RESERVED_MEMORY leaves {left:g} of "
        yield Hit(node, path, message + largest.name)
        return
    tight = largest.memory_mib - max(_FEW_MIB, largest.memory_mib * _FEW_PART)
    if wanted >= largest.memory_mib:
        yield Hit(node, path, _words(wanted, largest))
    elif wanted > tight and largest.memory_mib <= 65536:
        yield Hit(node, path, _words(wanted, largest), severity="warning")


def _wanted(workload: Workload) -> tuple[Node, str, float | None]:
    if isinstance(workload, TaskDefinition) and workload.has("memory"):
        return workload, "memory", workload.memory_mib
    if workload.flavour == "batch":
        container = workload.containers[0]
        return container, *_batch_need(container)
    needs = [
        (container.number(_counted(container)), container) for container in workload.containers
    ]
    known = [(size, container) for size, container in needs if size is not None]
    if len(known) < len(needs):
        return workload.containers[0], "memory", None
    _, most = max(known, key=lambda need: need[0])
    return most, _counted(most), sum(size for size, _ in known)


def _counted(container: Container) -> str:
    """What placement counts of a container: its reservation, or its limit without one."""
    return "memoryReservation" if container.has("memoryReservation") else "memory"


def _batch_need(container: Container) -> tuple[str, float | None]:
    for n, need in enumerate(container.items("resourceRequirements")):
        if need.text("type") == "MEMORY":
            return f"resourceRequirements[{n}].value", need.number("value")
    return "memory", container.number("memory")


def _words(wanted: float, row: InstanceType) -> str:
    return (
        f"{wanted:g} MiB are asked for; {row.name} has {row.memory_mib} MiB in name and "
        "registers less"
    )


def _reserved(workload: Workload) -> float:
    """MiB that the agents of all its hosts hide from placement."""
    groups = [p.scaling_group for p in workload.providers]
    templates = [g.launch_template if g else None for g in groups]
    sizes = [
        t.user_data.settings.get("ECS_RESERVED_MEMORY", "0") if t and t.user_data else "0"
        for t in templates
    ]
    return min((float(s) if s.isdigit() else 0.0 for s in sizes), default=0.0)
