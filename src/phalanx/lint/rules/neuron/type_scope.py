"""Neuron types where ECS does not list them."""

from __future__ import annotations

from collections.abc import Iterator

from phalanx.lint.capacity import CapacityProvider, ScalingGroup
from phalanx.lint.entity import Entity
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.neuron.managed_and_manual import PAGE
from phalanx.lint.world import World

_ALLOWED = (
    "managedInstancesProvider.instanceLaunchTemplate.instanceRequirements.allowedInstanceTypes"
)
_LATER = Pattern(r"(trn2\w*|inf1|trn1n)[.*]")


@rule(
    id="NEU006",
    slug="neuron-type-out-of-scope",
    severity="warning",
    areas=("neuron", "capacity"),
    on=Entity,
    message="A Neuron type that ECS does not list for this kind of capacity",
    why="Managed Instances are for Trn1 and Inf2; Trn2 and Inf1 belong to the EC2 launch type, "
    "and Trn1n is on neither list. Pages differ on Trn2 and Inf1, so ask before you plan on it.",
    fix="Put Trn2 and Inf1 on the EC2 launch type with mapped devices; use trn1.32xlarge for "
    "Trn1n.",
    sources=(
        (PAGE, "2026-07-10"),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/managed-instances-instance-types.html",
            "2026-07-10",
        ),
    ),
    facts=("NEU-01", "NEU-02", "NEU-03", "NEU-04"),
)
def neuron_type_out_of_scope(entity: Entity, world: World) -> Found:
    """Types of Managed Instances providers, and Trn1n anywhere."""
    if isinstance(entity, CapacityProvider):
        for node in entity.items(_ALLOWED):
            match = _LATER.match(node.text() or "")
            if match:
                yield Hit(node, message=f"{match[1]} is not for Managed Instances")
    elif isinstance(entity, ScalingGroup) and entity.capacity_providers:
        for name in _names(entity):
            yield Hit(entity, "", f"{name} is on no list of ECS", severity="info")


def _names(group: ScalingGroup) -> Iterator[str]:
    yield from (name for name in group.instance_types if name.startswith("trn1n."))
