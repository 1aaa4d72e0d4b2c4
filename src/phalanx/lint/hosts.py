"""What the files say of hosts: machine images by name, and every type that may be meant."""

from __future__ import annotations

from phalanx.facts.instances import InstanceType, family, instance
from phalanx.frozen import frozen
from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.entity import Entity
from phalanx.lint.infra import ComputeEnvironment
from phalanx.lint.pattern import Pattern
from phalanx.lint.signs import types_of
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_PARAMETER = Pattern(
    r"/aws/service/ecs/optimized-ami/(amazon-linux-2023|amazon-linux-2)/(?:(gpu|neuron|inf)/)?"
)
_NAME = Pattern(r"(amzn2|al2023)-ami-ecs-(?:(gpu|neuron|inf)-)?hvm")
_BOTTLEROCKET = Pattern(r"(bottlerocket)[/-]aws-ecs-\d(-nvidia)?[/-]")
_RELEASE = Pattern(r"(?<!\d)(20[12]\d[01]\d[0-3]\d)(?!\d)")
_FAMILY = Pattern(
    r"attribute:ecs\.instance-type\s*(?:=~|matches)\s*[\"']?\^?([a-z][a-z0-9-]*)"
    r"(?:\\?\.(?:\*|\.\*|\+|\.\+))[\"']?\$?\s*$"
)
ACCELERATED = Pattern(r"(?:g|p|gr|trn|inf|dl)\d[\w-]*\.")
"""Names of families that hold an accelerator."""


_SYSTEMS = {"amazon-linux-2": "al2", "amzn2": "al2", "bottlerocket": "bottlerocket"}
_PURPOSES = {"gpu": "gpu", "-nvidia": "gpu", "neuron": "neuron", "inf": "neuron"}


@frozen
class MachineImage:
    """An image that AWS makes for ECS: `purpose` is gpu, neuron or plain.

    `system` is al2, al2023 or bottlerocket; `release` is the day `YYYYMMDD`, empty for the newest.
    """

    purpose: str
    system: str
    release: str


def machine_image(template: LaunchTemplate) -> MachineImage | None:
    """The image of a template, where a parameter's or image's name tells; None otherwise."""
    text = template.text("imageId") or ""
    found = _PARAMETER.search(text) or _NAME.search(text) or _BOTTLEROCKET.search(text)
    if not found:
        return None
    system = _SYSTEMS.get(found[1], "al2023")
    purpose = _PURPOSES.get(found[2] or "", "plain")
    released = _RELEASE.search(text)
    return MachineImage(purpose, system, released[1] if released else "")


def template_types(template: LaunchTemplate) -> list[InstanceType]:
    """Rows of the types that a template starts; empty unless all are known."""
    names = [template.instance_type] if template.instance_type else []
    for group in template.scaling_groups:
        names += group.instance_types
    rows = [instance(name) for name in dict.fromkeys(names)]
    return [row for row in rows if row] if rows and all(rows) else []


def type_names(entity: Entity) -> list[str]:
    """Types that a launch template or a Batch compute environment names itself."""
    if isinstance(entity, LaunchTemplate):
        own = [entity.instance_type] if entity.instance_type else []
        return own + [name for group in entity.scaling_groups for name in group.instance_types]
    if isinstance(entity, ComputeEnvironment):
        return entity.texts("computeResources.instanceTypes")
    return []


def allowed(container: Container) -> list[InstanceType]:
    """Rows of every type that it can land on, a pinned family included; empty: not known."""
    rows = types_of(container)
    if rows:
        return rows
    for constraint in container.workload.items("placementConstraints"):
        match = _FAMILY.search(constraint.text("expression") or "")
        if match:
            return list(family(match[1]))
    return []


def otherwise_set(entity: Entity, path: str, world: World) -> bool:
    """Another assumption about the conditions of its file gives the entity this member."""
    return any(
        other.has(path)
        for other in world.all(type(entity))
        if other.address == entity.address and other.scope[0] == entity.scope[0]
    )
