"""Device permissions in the letter case of the other service."""

from __future__ import annotations

from phalanx.facts.rows import settled
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.values import HOLE
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="EFA005",
    slug="device-permission-case",
    severity="error",
    areas=("efa", "neuron"),
    on=Container,
    message="A device permission is not one of this service's words",
    why="ECS knows read, write and mknod; Batch knows READ, WRITE and MKNOD. The other spelling "
    "is refused at registration.",
    fix="ECS: read, write, mknod. Batch: READ, WRITE, MKNOD.",
    sources=(
        ("https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Device.html", "2026-05-20"),
        ("https://docs.aws.amazon.com/batch/latest/APIReference/API_Device.html", "2026-05-20"),
    ),
    facts=("TRN-45",),
)
def device_permission_case(container: Container, world: World) -> Found:
    """Every permission of every mapped device, once for each device."""
    flavour = container.workload.flavour
    if flavour not in ("ecs", "batch"):
        return
    known = settled("efa.permissions")[flavour]
    for device in container.devices:
        for n, permission in enumerate(device.items("permissions")):
            text = permission.text()
            if not text or HOLE in text or text in known:
                continue
            right = text.upper() if flavour == "batch" else text.lower()
            repair = ("", right) if right in known else None
            path = f"permissions[{n}]"
            message = f"{text} is no device permission of {flavour.replace('ecs', 'ECS')}"
            yield Hit(device.node(path), "", message, replace=repair)
