"""EFA without unlimited locked memory."""

from __future__ import annotations

from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import uses_efa
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="EFA002",
    slug="efa-memlock",
    severity="error",
    areas=("efa",),
    on=Container,
    message="EFA is used, but locked memory is limited",
    why="EFA registers memory, which must be locked; the default limit of 64 KiB makes the "
    "registration fail and libfabric falls back or stops.",
    fix='Add the ulimit {"name": "memlock", "softLimit": -1, "hardLimit": -1}.',
    sources=(
        ("https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Ulimit.html", "2026-05-20"),
        ("https://docs.aws.amazon.com/batch/latest/userguide/efa.html", "2026-07-10"),
    ),
    guards=("GR5",),
    facts=("TRN-46",),
)
def efa_memlock(container: Container, world: World) -> Found:
    """A warning for privileged containers, which may raise the limit themselves."""
    if container.workload.flavour not in ("ecs", "batch") or not uses_efa(container):
        return
    severity = "warning" if container.is_privileged else ""
    if not container.has("ulimits"):
        yield Hit(container, "ulimits", severity=severity)
        return
    limits = container.items("ulimits")
    if any(limit.text("name") is None for limit in limits) or not isinstance(
        container.raw("ulimits"), list
    ):
        return
    found = next((limit for limit in limits if limit.text("name") == "memlock"), None)
    if found is None:
        yield Hit(container, "ulimits", severity=severity)
        return
    for side in ("softLimit", "hardLimit"):
        value = found.number(side)
        if value is not None and value != -1:
            yield Hit(found, side, f"memlock {side} is {value:g}, not -1", severity=severity)
            return
