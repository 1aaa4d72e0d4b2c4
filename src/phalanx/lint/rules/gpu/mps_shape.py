"""An MPS requirement of the wrong shape or size."""

from __future__ import annotations

from collections.abc import Iterator

from phalanx.lint.entity import Node
from phalanx.lint.hosts import allowed
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.gpu.sharing_mixed import API
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_MPS = "sharingStrategy.nvidiaMps"
_MEMORY = _MPS + ".memory"
_PERCENT = _MPS + ".maxComputePercent"


@rule(
    id="GPU002",
    slug="mps-shape",
    severity="warning",
    areas=("gpu",),
    on=Container,
    message="The MPS requirement has a wrong shape",
    why="nvidiaMps needs memory in whole MiB, at least 1, that is free on one card; "
    "maxComputePercent is a ceiling in percent. Other forms are refused or never placed.",
    fix='Write {"type": "GPU", "sharingStrategy": {"nvidiaMps": {"memory": 8192, '
    '"maxComputePercent": 40}}}, memory in MiB below the memory of the card.',
    sources=((API + "API_NvidiaMpsAllocation.html", "undated"),),
    guards=("GR9",),
    facts=("CMP-35", "CMP-38"),
)
def mps_shape(container: Container, world: World) -> Found:
    """Members, their ranges, and the memory against the card of the only types."""
    for need in container.items("resourceRequirements"):
        if need.text("type") != "GPU" or not need.has("sharingStrategy"):
            continue
        for path, message in _wrong(need, container):
            yield Hit(need, path, message)


def _wrong(need: Node, container: Container) -> Iterator[tuple[str, str]]:
    if not need.has(_MPS):
        yield "sharingStrategy", "sharingStrategy holds no nvidiaMps"
        return
    memory, percent = need.number(_MEMORY), need.number(_PERCENT)
    if not need.has(_MEMORY):
        yield _MEMORY, "nvidiaMps lacks memory, which is required"
    elif memory is not None and (memory < 1 or memory != int(memory)):
        yield _MEMORY, f"memory {memory:g} is no whole number of MiB"
    elif memory is not None:
        rows = allowed(container)
        largest = max((row.device_memory_mib for row in rows), default=0)
        if largest and memory > largest:
            yield _MEMORY, f"{memory:g} MiB fit on no card of {rows[0].name} ({largest} MiB)"
    if percent is not None and not 1 <= percent <= 100:
        yield _PERCENT, f"maxComputePercent {percent:g} is no percentage from 1 to 100"
