"""An image that is newer than the driver of its host."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.hosts import MachineImage, machine_image, template_types
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.gpu.cuda_for_type import image_cuda
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_OUT = {
    (11, 8): "20221001",
    (12, 0): "20221201",
    (12, 2): "20230601",
    (12, 4): "20240301",
    (12, 6): "20240801",
    (12, 8): "20250101",
    (13, 0): "20250801",
}
_P5 = "20230929"


@rule(
    id="GPU009",
    slug="image-newer-than-host-driver",
    severity="warning",
    areas=("gpu",),
    on=LaunchTemplate,
    message="The machine image is older than what must run on it",
    why="An image declares the least CUDA level that it needs; a host with an older driver "
    "refuses to start it, on every instance of the group, before the first log line.",
    fix="Move the machine image forward (a new GPU AMI, not a driver update in place), or use a "
    "container image with an older CUDA.",
    sources=(
        ("https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html", "undated"),
        ("https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-gpu.html", "2026-07-10"),
        ("https://github.com/aws/containers-roadmap/issues/336", "undated"),
    ),
    facts=("CMP-13", "CMP-18", "CMP-20"),
)
def image_newer_than_host_driver(template: LaunchTemplate, world: World) -> Found:
    """A release older than the CUDA of a task on it, or than the type; AL2 with CUDA 13."""
    image = machine_image(template)
    if image is None or image.purpose != "gpu":
        return
    rows = template_types(template)
    if image.release and image.release < _P5 and any(row.family == "p5" for row in rows):
        yield Hit(template, "imageId", f"p5 needs a GPU AMI of {_P5} or later")
        return
    for container in _on(template, world):
        cuda = image_cuda(container)
        if cuda and _is_older(image, cuda):
            what = f"of {image.release}" if image.release else "of Amazon Linux 2, past its end,"
            message = f"A GPU AMI {what} is to run an image with CUDA {cuda[0]}.{cuda[1]}"
            yield Hit(template, "imageId", message)
            return


def _is_older(image: MachineImage, cuda: tuple[int, int]) -> bool:
    out = max((day for version, day in _OUT.items() if version <= cuda), default="")
    if image.release:
        return image.release < out
    return image.system == "al2" and cuda >= (13, 0)


def _on(template: LaunchTemplate, world: World) -> list[Container]:
    """Containers of tasks that run on the template's groups, by their strategy."""
    groups = template.scaling_groups
    return [
        container
        for container in world.near(template, Container)
        if container.is_accelerated
        and any(provider.scaling_group in groups for provider in container.workload.providers)
    ]
