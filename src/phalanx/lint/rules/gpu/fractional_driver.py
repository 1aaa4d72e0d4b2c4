"""Types with a part of a card, and their driver."""

from __future__ import annotations

from phalanx.facts.instances import instance
from phalanx.lint.capacity import LaunchTemplate, ScalingGroup
from phalanx.lint.entity import Entity
from phalanx.lint.hosts import machine_image
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="GPU006",
    slug="fractional-gpu-driver",
    severity="warning",
    areas=("gpu", "placement"),
    on=Entity,
    message="A type with a part of a GPU needs a driver of another flavour",
    why="Fractional types (g6f, gr6f) hold a virtual GPU, which wants NVIDIA's GRID driver. The "
    "GPU image of ECS carries the data-centre driver, so the host registers no GPU; the types "
    "are on the list of Managed Instances, not on that of the EC2 launch type.",
    fix="Use Managed Instances for these types, or an image of your own with the GRID driver.",
    sources=(
        ("https://github.com/aws/amazon-ecs-agent/issues/4786", "undated"),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/managed-instances-instance-types.html",
            "2026-07-10",
        ),
    ),
    guards=("GR3",),
    facts=("CMP-45", "CMP-46"),
)
def fractional_gpu_driver(entity: Entity, world: World) -> Found:
    """Templates and overrides of scaling groups; silent where user data speaks of GRID."""
    if isinstance(entity, LaunchTemplate):
        row = instance(entity.instance_type or "")
        text = entity.user_data.text if entity.user_data else ""
        if row and row.is_fractional and "grid" not in text.lower():
            image = machine_image(entity)
            own = image is None or image.purpose != "gpu"
            yield Hit(entity, "instanceType", _words(row.name), severity="info" if own else "")
    elif isinstance(entity, ScalingGroup):
        for override in entity.overrides:
            row = instance(override.text("instanceType") or "")
            if row and row.is_fractional:
                yield Hit(override, "instanceType", _words(row.name))


def _words(name: str) -> str:
    return f"{name} holds a part of a GPU: the usual GPU image does not drive it"
