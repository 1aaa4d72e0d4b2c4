"""How many tasks of a service fit into the hosts that its scaling groups may have."""

from __future__ import annotations

from phalanx.facts.instances import instance
from phalanx.lint.launch import Service
from phalanx.lint.workload import Workload


def cards_of(workload: Workload) -> float | None:
    """Whole GPUs of one task; None when some count cannot be known."""
    counts = [container.gpus for container in workload.containers]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def slots(service: Service) -> float | None:
    """Tasks that fit at once by GPUs and the groups' largest sizes; None when unknown."""
    task = service.workload
    cards = cards_of(task) if task is not None else None
    providers = service.capacity_providers
    if not cards or not providers or len(providers) != len(service.strategy):
        return None
    total = 0.0
    for provider in providers:
        group = provider.scaling_group
        most = group.number("maxSize") if group is not None else None
        rows = [instance(name) for name in group.instance_types] if group is not None else []
        gpus = [row.gpus for row in rows if row is not None and row.gpus]
        if most is None or not gpus or len(gpus) != len(rows):
            return None
        total += most * (max(gpus) // cards)
    return total
