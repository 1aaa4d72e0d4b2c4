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
    """One finding for each container, at its first wrong word; the count is in the message."""
    flavour = container.workload.flavour
    if flavour not in ("ecs", "batch"):
        return
    known = settled("efa.permissions")[flavour]
    nodes = [node for device in container.devices for node in device.items("permissions")]
    words = [(node, node.text() or "") for node in nodes]
    wrong = [(n, word) for n, word in words if word and HOLE not in word and word not in known]
    if not wrong:
        return
    repairs = tuple((n, word) for n, said in wrong if (word := _right(said, flavour)) in known)
    first, said = wrong[0]
    more = f" (nor are {len(wrong) - 1} more of this container)" if len(wrong) > 1 else ""
    text = f"{said} is no device permission of {flavour.replace('ecs', 'ECS')}{more}"
    replace = ("", _right(said, flavour)) if _right(said, flavour) in known else None
    yield Hit(first, "", text, replace=replace, also=repairs)


def _right(word: str, flavour: str) -> str:
    return word.upper() if flavour == "batch" else word.lower()
