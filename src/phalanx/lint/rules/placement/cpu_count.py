"""More CPU than the type has."""

from __future__ import annotations

from phalanx.facts.instances import API_PAGE
from phalanx.lint.entity import Node
from phalanx.lint.hosts import allowed
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import TaskDefinition, Workload
from phalanx.lint.world import World


@rule(
    id="PLC005",
    slug="cpu-above-type",
    severity="error",
    areas=("placement",),
    on=Workload,
    message="More CPU is asked for than the only type allowed has",
    why="CPU is counted in units of 1/1024 vCPU; a request above the type's vCPUs is never "
    "placed. A request of exactly all of them fits.",
    fix="Ask for at most 1024 units for each vCPU of the type, less what other tasks need.",
    sources=((API_PAGE, "undated"),),
    guards=("GR9",),
    facts=("CAP-19",),
)
def cpu_above_type(workload: Workload, world: World) -> Found:
    """The task's figure, else the sum of its containers; for Batch, each container by itself."""
    if workload.flavour not in ("ecs", "batch") or not workload.containers:
        return
    for node, path, vcpus in _wanted(workload):
        rows = allowed(workload.containers[0] if workload.flavour == "ecs" else node)  # type: ignore[arg-type]
        largest = max(rows, key=lambda row: row.vcpus, default=None)
        if largest and largest.vcpus and vcpus > largest.vcpus:
            message = f"{vcpus:g} vCPU are asked for; {largest.name} has {largest.vcpus}"
            yield Hit(node, path, message)


def _wanted(workload: Workload) -> list[tuple[Node, str, float]]:
    if isinstance(workload, TaskDefinition):
        if workload.has("cpu"):
            return [(workload, "cpu", workload.cpu_units / 1024)] if workload.cpu_units else []
        sizes = [container.number("cpu") or 0.0 for container in workload.containers]
        largest = workload.containers[sizes.index(max(sizes))]
        return [(largest, "cpu", sum(sizes) / 1024)]
    out: list[tuple[Node, str, float]] = []
    for container in workload.containers:
        for n, need in enumerate(container.items("resourceRequirements")):
            wanted = need.number("value") if need.text("type") == "VCPU" else None
            if wanted:
                out.append((container, f"resourceRequirements[{n}].value", wanted))
        if container.number("vcpus"):
            out.append((container, "vcpus", container.number("vcpus") or 0.0))
    return out
