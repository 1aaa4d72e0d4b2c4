"""Signs of what a workload is for: shared judgements, so that rules do not each make their own."""

from __future__ import annotations

import re

from phalanx.facts.instances import InstanceType, instance
from phalanx.lint.entity import Entity
from phalanx.lint.pattern import Pattern
from phalanx.lint.values import HOLE
from phalanx.lint.workload import Container, Environment

_TRAINS = Pattern(
    r"(?:^|[\s./_-])(?:pre|fine)?-?_?(?:train|tune|tuning)(?:er|ing)?(?=$|[\s./_:-])"
    r"|--(?:num[-_])?(?:train[-_])?epochs\b|--max[-_]?steps\b|\btorchrun\b|torch\.distributed",
    re.IGNORECASE,
)
_SERVES = Pattern(r"(?:^|[\s/_-])(?:serve|server|serving|vllm|tritonserver|tgi|gateway)\b|--port\b")
_RAY = Pattern(r"\bray\s+(?:start|job)|\bray\b.*--address")


def trains(container: Container) -> bool:
    """Its command is a training run that ends by itself."""
    text = container.command.text
    return bool(_TRAINS.search(text)) and not serves(container)


def serves(container: Container) -> bool:
    """It offers a port, or its command is that of a server."""
    return container.is_server or bool(_SERVES.search(container.command.text))


def is_ray(container: Container) -> bool:
    """It is a head or worker of a Ray cluster."""
    return bool(_RAY.search(container.command.text))


def uses_efa(container: Container) -> bool:
    """It asks libfabric for EFA, or maps an EFA device."""
    environment = container.environment
    return (
        (environment.content("FI_PROVIDER") or "").lower() == "efa"
        or environment.content("FI_EFA_USE_DEVICE_RDMA") == "1"
        or container.maps("/dev/infiniband")
    )


def is_instance(entity: Entity) -> bool:
    """One of several instances of one Terraform block (`for_each`, `count`), or a part of one."""
    if isinstance(entity, Environment) and entity.container is not None:
        entity = entity.container
    return "[" in (entity.workload if isinstance(entity, Container) else entity).address


def types_of(container: Container) -> list[InstanceType]:
    """Rows of every type that it can land on; empty unless all are known."""
    rows = [instance(name) for name in container.instance_types]
    return [row for row in rows if row] if all(rows) else []


def is_literal(text: str | None) -> bool:
    """A text without unresolved parts."""
    return bool(text) and HOLE not in (text or "")


def has_accelerator(names: tuple[str, ...]) -> bool:
    """Some of the types holds a GPU, a part of one, or a Neuron device."""
    rows = [instance(name) for name in names]
    return any(row.gpus or row.neuron_devices or row.is_fractional for row in rows if row)
