"""More, or fewer, EFA devices than the type has."""

from __future__ import annotations

from phalanx.facts.instances import API_PAGE
from phalanx.lint.hosts import allowed
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_UVERBS = Pattern(r"/dev/infiniband/uverbs(\d+)$")


@rule(
    id="EFA004",
    slug="efa-device-count",
    severity="error",
    areas=("efa",),
    on=Container,
    message="The EFA devices mapped are not those of the type",
    why="Every EFA interface has a uverbs device of its own. A device that the host has not got "
    "keeps the container from starting; one that is not mapped lies idle.",
    fix="Map /dev/infiniband/uverbs0 up to the number of EFA interfaces of the type, less one.",
    sources=(
        (API_PAGE, "undated"),
        ("https://docs.aws.amazon.com/batch/latest/userguide/efa.html", "2026-07-10"),
    ),
    guards=("GR5", "GR9"),
    facts=("TRN-44", "INS-09", "INS-10"),
)
def efa_device_count(container: Container, world: World) -> Found:
    """Too many is an error, too few a warning; only where every device and type is known."""
    rows = allowed(container)
    if container.workload.flavour not in ("ecs", "batch") or not container.devices_known:
        return
    numbers = {
        int(match[1]): n
        for n, device in enumerate(container.devices)
        if (match := _UVERBS.match(device.host_path))
    }
    if not numbers or not rows:
        return
    most, least = max(row.efa for row in rows), min(row.efa for row in rows)
    beyond = [number for number in sorted(numbers) if number >= most]
    if beyond:
        has = f"has {most} EFA interface{'s' * (most != 1)}" if most else "has no EFA"
        path = f"linuxParameters.devices[{numbers[beyond[0]]}]"
        yield Hit(container, path, f"uverbs{beyond[0]} is mapped; {rows[0].name} {has}")
    elif len(numbers) < least:
        message = f"{len(numbers)} of {least} EFA devices of {rows[0].name} are mapped"
        yield Hit(container, "linuxParameters.devices", message, severity="warning")
