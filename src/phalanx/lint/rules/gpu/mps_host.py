"""MPS sharing where there is none."""

from __future__ import annotations

from phalanx.lint.hosts import allowed
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.gpu.sharing_mixed import API
from phalanx.lint.workload import Container
from phalanx.lint.world import World


@rule(
    id="GPU003",
    slug="mps-not-on-this-host",
    severity="error",
    areas=("gpu", "host"),
    on=Container,
    message="MPS sharing is asked for on a host that has none",
    why="MPS sharing works on the EC2 launch type and Managed Instances; not on ECS Anywhere, "
    "and not on types with a part of a card.",
    fix="On ECS Anywhere ask for whole cards; on fractional types ask for a decimal value.",
    sources=((API + "API_ResourceRequirement.html", "undated"),),
    facts=("CMP-37",),
)
def mps_not_on_this_host(container: Container, world: World) -> Found:
    """EXTERNAL among the compatibilities, or only fractional types allowed."""
    for n, need in enumerate(container.items("resourceRequirements")):
        if need.text("type") != "GPU" or not need.has("sharingStrategy.nvidiaMps"):
            continue
        rows = allowed(container)
        where = ""
        if "EXTERNAL" in container.workload.launch_types:
            where = "ECS Anywhere"
        elif rows and all(row.is_fractional for row in rows):
            where = rows[0].name
        if where:
            path = f"resourceRequirements[{n}].sharingStrategy"
            yield Hit(container, path, f"MPS sharing is not there on {where}")
