"""A Ray head that is found by a name with a long life."""

from __future__ import annotations

import re

from phalanx.lint.entity import Entity
from phalanx.lint.infra import DiscoveryService
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import is_ray
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_HEAD = Pattern(r"--address[=\s]+[\"']?((?:[a-z][\w-]*\.)+[a-z][\w-]*)(?::\d+)?", re.IGNORECASE)
_TTL_MAX_S = 15


@rule(
    id="GNG009",
    slug="ray-head-by-stale-dns",
    severity="warning",
    areas=("gang",),
    on=Entity,
    message="The head is found by a name whose answer stays valid too long",
    why="A head task that is replaced gets a new address. Until the record's time to live is "
    "over, workers connect to the old one, and ray start gives up before that.",
    fix=f"Set the TTL to {_TTL_MAX_S} s or less and repeat ray start with a deadline, or hand the "
    "head's address over at launch.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/service-discovery.html",
            "2023-06-15",
        ),
    ),
    facts=("TRN-01", "TRN-64", "TRN-65"),
)
def ray_head_by_stale_dns(entity: Entity, world: World) -> Found:
    """The record beside Ray tasks; a worker that names a head without the record is an info."""
    if isinstance(entity, DiscoveryService):
        if not any(is_ray(c) or _names(c, entity) for c in world.near(entity, Container)):
            return
        for n, record in enumerate(entity.items("dnsConfig.dnsRecords")):
            ttl = record.number("ttl")
            if ttl is not None and ttl > _TTL_MAX_S:
                yield Hit(entity, f"dnsConfig.dnsRecords[{n}].ttl", f"A TTL of {ttl:g} s")
    elif isinstance(entity, Container) and is_ray(entity):
        match = _HEAD.search(entity.command.text)
        if match and not world.near(entity, DiscoveryService):
            message = f"The head is found by the name {match[1]}: mind its time to live"
            yield Hit(entity.command.node, message=message, severity="info")


def _names(container: Container, service: DiscoveryService) -> bool:
    """A run of several nodes that meets at the service's name."""
    name = service.name
    if not name or not container.workload.is_multi_node:
        return False
    texts = [container.command.text, *(v.content or "" for v in container.environment.variables)]
    return any(re.search(rf"(?<![\w.-]){re.escape(name)}\.", text) for text in texts)
