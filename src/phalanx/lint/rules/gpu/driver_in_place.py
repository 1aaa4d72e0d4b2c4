"""A driver that is updated in place."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.hosts import machine_image, template_types
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_UPDATE = Pattern(
    r"(?:yum|dnf|apt-get|apt)\s+(?:-\S+\s+)*(?:update|upgrade|install)\s+[^\n;&|]*"
    r"(?:nvidia-driver|nvidia-kmod|kmod-nvidia|nvidia-open|cuda-drivers|xorg-x11-drv-nvidia)"
    r"|NVIDIA-Linux-\S+\.run"
)


@rule(
    id="GPU013",
    slug="driver-updated-in-place",
    severity="warning",
    areas=("gpu",),
    on=LaunchTemplate,
    message="The NVIDIA driver of the GPU image is replaced at boot",
    why="The GPU image of ECS has a driver, kernel module and container toolkit that belong "
    "together; replacing the driver in place breaks them, and the agent may start before it.",
    fix="Take a newer GPU AMI and replace the instances, or bake an image of your own.",
    sources=(
        ("https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-gpu.html", "2026-07-10"),
    ),
    facts=("CMP-20",),
)
def driver_updated_in_place(template: LaunchTemplate, world: World) -> Found:
    """Packages or the run file of the driver, on the GPU image that ECS makes."""
    image, data = machine_image(template), template.user_data
    if image is None or image.purpose != "gpu" or data is None:
        return
    rows = template_types(template)
    if (not rows or any(row.gpus for row in rows)) and _UPDATE.search(data.text):
        yield Hit(template, "userData")
