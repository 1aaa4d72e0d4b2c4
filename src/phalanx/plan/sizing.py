"""Which instance type, and how many: the smallest device memory in which the model fits.

No throughput is known here and none is claimed: types are compared by memory alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from phalanx.facts.instances import InstanceType, all_instances
from phalanx.plan.memory import serving_bytes
from phalanx.plan.parallelism import MIB, USABLE, Fit, choose, forms
from phalanx.plan.resolve import named
from phalanx.plan.sharing import FRACTIONS, part_wished
from phalanx.plan.workload import Workload

FAMILIES = {
    ("training", "nvidia"): ("g6", "g6e", "p4d", "p5", "p5en", "p6-b200"),
    ("training", "neuron"): ("trn1",),
    ("inference", "nvidia"): ("g6", "g6e", "p4d", "p5", "p5en", "p6-b200"),
    ("inference", "neuron"): ("inf2",),
    ("development", "nvidia"): ("g6", "g6e", "p5"),
    ("development", "neuron"): ("trn1", "inf2"),
}
"""Families that are proposed when no type is asked for; Trainium2 is never sized by its memory."""
GANG_FAMILIES = ("p4d", "p5", "p5en", "p6-b200", "trn1")
"""Families that are proposed for several nodes: all their GPUs have EFA between nodes."""
SECOND_CHOICE = ("p5en", "p6-b200")
"""Families that the ECS page for GPUs on EC2 does not list: only when nothing else fits."""
NODES_MOST = 256
"""Most nodes that are tried: what Capacity Blocks hold in all."""


@dataclass(frozen=True)
class Sized:
    """The hardware of one run, or of one replica. `devices` are used of all that it has."""

    instance: InstanceType | None = None
    nodes: int = 1
    devices: int = 0
    fit: Fit | None = None
    forms: tuple[Fit, ...] = ()
    need_bytes: float | None = None
    """Device memory of one replica, for inference."""
    problem: str = ""
    """Why nothing fits, in words; empty when something does."""


def size(workload: Workload, vendor: str) -> Sized:
    """The hardware for a workload on devices of a vendor; empty when nothing is to be sized."""
    if workload.devices.is_cpu:
        return Sized(nodes=max(workload.run.nodes, 1))
    rows = _rows(workload, vendor)
    if not rows:
        said = f"no instance type of the tables is or holds {workload.devices.type}"
        return Sized(nodes=max(workload.run.nodes, 1), problem=said)
    if workload.use == "training":
        return _training(workload, rows)
    if workload.use == "inference":
        return _inference(workload, rows)
    return _by_count(workload, rows)


def _rows(workload: Workload, vendor: str) -> tuple[InstanceType, ...]:
    word = workload.devices.type
    if word:
        found = [row for row in all_instances() if named(word, row.name, row.accelerator)]
    else:
        families = FAMILIES[workload.use, vendor]
        families += FRACTIONS if part_wished(workload, vendor) else ()
        found = [row for row in all_instances() if row.family in families]
    parts = part_wished(workload, vendor)
    kept = [
        row for row in found if row.count and (parts or not row.is_fractional or row.name == word)
    ]
    return tuple(sorted(kept, key=_order))


def _order(row: InstanceType) -> tuple[int, int, int, str]:
    late = row.family in SECOND_CHOICE
    return int(late), row.count * row.device_memory_mib, row.vcpus, row.name


def _training(workload: Workload, rows: tuple[InstanceType, ...]) -> Sized:
    if not workload.model.is_sized:
        return _by_count(workload, rows)
    tried = [_tried(workload, row, nodes) for row, nodes in _pairs(workload, rows)]
    fitting = [sized for sized in tried if sized.fit]
    if fitting:
        return min(fitting, key=_cheapest)
    if not tried:
        return _by_count(workload, rows)
    largest = tried[-1]
    said = (
        f"{workload.model.parameters:,} parameters do not fit on {largest.nodes} x "
        f"{largest.instance.name if largest.instance else ''} in any form that was tried"
    )
    return Sized(largest.instance, largest.nodes, largest.devices, None, largest.forms, None, said)


def _cheapest(sized: Sized) -> tuple[int, float, int]:
    assert sized.instance is not None
    memory = sized.nodes * sized.instance.count * sized.instance.device_memory_mib
    return int(sized.instance.family in SECOND_CHOICE), memory, sized.nodes


def _pairs(
    workload: Workload, rows: tuple[InstanceType, ...]
) -> Iterator[tuple[InstanceType, int]]:
    """Types and numbers of nodes that agree with what is asked for."""
    for row in rows:
        for nodes in _nodes(workload, row):
            gang = row.family in GANG_FAMILIES and row.count >= 8
            if nodes == 1 or gang or workload.devices.type:
                yield row, nodes


def _nodes(workload: Workload, row: InstanceType) -> Iterator[int]:
    asked, count = workload.run.nodes, workload.devices.count
    if asked:
        if not count or ceil(count / asked) <= row.count:
            yield asked
        return
    if count:
        yield ceil(count / row.count)
        return
    nodes = 1
    while nodes <= NODES_MOST:
        yield nodes
        nodes *= 2


def _tried(workload: Workload, row: InstanceType, nodes: int) -> Sized:
    per_node = row.count
    if workload.devices.count:
        per_node = min(row.count, ceil(workload.devices.count / nodes))
    tried = forms(workload.model, per_node * nodes, per_node, row.device_memory_mib)
    return Sized(row, nodes, per_node * nodes, choose(tried), tried)


def _inference(workload: Workload, rows: tuple[InstanceType, ...]) -> Sized:
    if not workload.model.is_sized:
        return _by_count(workload, rows)
    need = serving_bytes(workload.model, workload.serving.concurrency)
    for row in rows:
        each = row.device_memory_mib * MIB * USABLE
        count = max(workload.devices.count, 1)
        while count <= row.count:
            if need <= each * count:
                return Sized(row, 1, count, need_bytes=need)
            count *= 2
        if need <= each * row.count and row.count >= workload.devices.count:
            return Sized(row, 1, row.count, need_bytes=need)
    largest = rows[-1]
    said = (
        f"one replica needs {need / 1024**3:,.0f} GiB of device memory; {largest.name} has "
        f"{largest.count * largest.device_memory_mib / 1024:,.0f} GiB, of which nine tenths "
        f"({largest.count * largest.device_memory_mib * USABLE / 1024:,.0f} GiB) are planned with"
    )
    return Sized(largest, 1, largest.count, need_bytes=need, problem=said)


def _by_count(workload: Workload, rows: tuple[InstanceType, ...]) -> Sized:
    """By the number of devices that is asked for; nothing is known of memory."""
    nodes = workload.run.nodes or 1
    each = max(1, ceil(workload.devices.count / nodes))
    wide = [row for row in rows if row.count >= each] or list(rows[-1:])
    if nodes > 1 and not workload.devices.type:
        wide = [row for row in wide if row.family in GANG_FAMILIES and row.count >= 8] or wide
    row = wide[0]
    if not workload.run.nodes:
        nodes = max(1, ceil(workload.devices.count / row.count))
    if not (workload.devices.count or workload.devices.type or workload.use == "development"):
        asked = workload.run.nodes > 1
        return Sized(row if asked else None, nodes, row.count * nodes if asked else 0)
    used = workload.devices.count or row.count * nodes
    return Sized(row, nodes, used)
