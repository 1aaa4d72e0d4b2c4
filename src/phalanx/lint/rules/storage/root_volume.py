"""A root disk that a GPU image fills."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import has_accelerator
from phalanx.lint.world import World

_ROOT = ("/dev/xvda", "/dev/sda1")
_ENOUGH_GIB = 50


@rule(
    id="STO002",
    slug="root-volume-too-small-for-gpu-image",
    severity="warning",
    areas=("storage",),
    on=LaunchTemplate,
    message="The root volume is small for GPU images",
    why="Images of GPU frameworks are 5-15 GB and more, are downloaded and unpacked on the root "
    "volume, and the old version stays until cleanup. A full disk shows as a failed pull.",
    fix="Give the root volume room for two versions of the image and for local files (100 GiB of "
    "gp3 is a usual start), trim the image, and set the agent's image cleanup.",
    sources=(
        ("https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-gpu.html", "2026-07-10"),
        ("https://github.com/aws/amazon-ecs-agent/issues/716", "undated"),
    ),
    facts=("STO-20",),
)
def root_volume_too_small_for_gpu_image(template: LaunchTemplate, world: World) -> Found:
    """Accelerated types whose root volume is given and below 50 GiB, with no other volume."""
    types = {template.instance_type or ""}
    types.update(t for group in template.scaling_groups for t in group.instance_types)
    volumes = template.items("blockDeviceMappings")
    if not has_accelerator(tuple(types)) or len(volumes) != 1:
        return
    size = volumes[0].number("ebs.volumeSize")
    if volumes[0].text("deviceName") in _ROOT and size is not None and size < _ENOUGH_GIB:
        yield Hit(
            volumes[0],
            "ebs.volumeSize",
            f"The root volume has {size:g} GiB; a GPU image and its next version need more",
        )
