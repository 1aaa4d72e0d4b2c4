"""A shared card in production."""

from __future__ import annotations

import re

from phalanx.lint.launch import Service
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.gpu.manual_sharing import shares_by_hand
from phalanx.lint.rules.gpu.sharing_mixed import API
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_PRODUCTION = Pattern(r"(?:^|[-_./])prod(?:uction)?(?:$|[-_./])", re.IGNORECASE)
_STAGE = Pattern(r"env|stage|tier", re.IGNORECASE)


@rule(
    id="GPU004",
    slug="gpu-shared-in-production",
    severity="warning",
    areas=("gpu", "serving"),
    on=Container,
    message="A production workload shares its GPU",
    why="Containers that share a card share its failures: a fatal error in one takes the others "
    "with it, and sharing by hand has no limit of memory or compute at all.",
    fix="Give production a whole card (or a smaller or fractional type); keep sharing for "
    "development and for tasks that trust each other.",
    sources=(
        (API + "API_SharingStrategy.html", "undated"),
        ("https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-gpu.html", "2026-07-10"),
    ),
    guards=("GR3",),
    facts=("CMP-39", "CMP-43"),
)
def gpu_shared_in_production(container: Container, world: World) -> Found:
    """Said by a name or tag, or behind a load balancer; MPS behind a load balancer is an info."""
    needs = container.items("resourceRequirements")
    mps = next((n for n, need in enumerate(needs) if need.has("sharingStrategy")), None)
    by_hand = shares_by_hand(container)
    if mps is None and by_hand is None:
        return
    said = _says_production(container)
    balanced = any(
        isinstance(launcher, Service) and launcher.items("loadBalancers")
        for launcher in container.workload.launchers
    )
    if not said and not balanced:
        return
    severity = "" if said or mps is None else "info"
    if by_hand is not None:
        yield Hit(by_hand, severity=severity)
    else:
        yield Hit(container, f"resourceRequirements[{mps}].sharingStrategy", severity=severity)


def _says_production(container: Container) -> bool:
    task = container.workload
    names = [task.name or "", *(launcher.name or "" for launcher in task.launchers)]
    tags = [(n.text("key"), n.text("value")) for n in task.items("tags")]
    tags += [(key, node.text()) for key, node in task.members("tags")]
    tags += [(v.key, v.content) for v in container.environment.variables]
    names += [value or "" for key, value in tags if key and _STAGE.search(key)]
    return any(_PRODUCTION.search(name) for name in names)
