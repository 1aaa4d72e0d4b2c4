"""EFA wished for, but no device handed to the container."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import types_of, uses_efa
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="EFA001",
    slug="efa-device-not-mapped",
    severity="error",
    areas=("efa",),
    on=Container,
    message="EFA is asked for, but no /dev/infiniband/uverbs device is mapped",
    why="Libfabric reaches EFA through the uverbs devices. Without them collectives fall back to "
    "TCP at a fraction of the speed. An awsvpc task interface is never an EFA device.",
    fix="Map /dev/infiniband/uverbs0 and so on, one for each EFA interface of the type, with "
    "permissions read, write, mknod (READ, WRITE, MKNOD in Batch). awsvpc can stay.",
    sources=(
        ("https://docs.aws.amazon.com/batch/latest/userguide/efa.html", "2026-07-10"),
        ("https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Device.html", "2026-05-20"),
        ("https://github.com/aws/aws-ofi-nccl/issues/1020", "undated"),
    ),
    guards=("GR5",),
    facts=("TRN-44", "TRN-45", "TRN-47"),
)
def efa_device_not_mapped(container: Container, world: World) -> Found:
    """Silent for privileged containers, which see every device of the host."""
    if container.workload.flavour not in ("ecs", "batch") or container.is_privileged:
        return
    if not uses_efa(container) or not container.devices_known:
        return
    if container.maps("/dev/infiniband"):
        return
    rows = [row for row in types_of(container) if row.efa]
    last = max((row.efa for row in rows), default=0) - 1
    message = "EFA is asked for, but no /dev/infiniband/uverbs device is mapped"
    if rows:
        last_name = f"uverbs0 to uverbs{last}" if last else "uverbs0"
        message += f" ({rows[0].name} has {last_name})"
    yield Hit(container, "linuxParameters.devices", message)
