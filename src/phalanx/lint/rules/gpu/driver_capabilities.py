"""An image that does not ask for the driver's compute part."""

from __future__ import annotations

from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import Container
from phalanx.lint.world import World

_NAME = "NVIDIA_DRIVER_CAPABILITIES"
_PLAIN = Pattern(
    r"(?:^|/)(?:python|ubuntu|debian|amazonlinux|alpine|fedora|rockylinux|node|golang)(?::[\w.-]+)?$"
)


@rule(
    id="GPU010",
    slug="driver-capabilities-missing",
    severity="warning",
    areas=("gpu",),
    on=Container,
    message=f"The container asks for a GPU, but not for the driver's compute part ({_NAME})",
    why="ECS sets the visible cards, not the driver capabilities. An image that is not built on "
    "a CUDA base gets no libcuda and no nvidia-smi unless it names them.",
    fix=f"Set {_NAME} to compute,utility (or all), or build on a CUDA base image.",
    sources=(
        ("https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-gpu.html", "2026-07-10"),
    ),
    facts=("CMP-25",),
)
def driver_capabilities_missing(container: Container, world: World) -> Found:
    """A value without compute, or a plain base image without the variable."""
    if container.workload.flavour not in ("ecs", "batch") or not container.wants_gpu:
        return
    variable = container.environment.get(_NAME)
    if variable is None:
        image = container.text("image") or ""
        if _PLAIN.search(image) and container.environment.is_known:
            yield Hit(container, "environment", f"{image} is no CUDA image and {_NAME} is not set")
        return
    content = variable.content
    parts = [part.strip().lower() for part in (content or "").split(",")]
    if content is not None and "compute" not in parts and "all" not in parts:
        yield Hit(variable, message=f"{_NAME} is {content!r}, without compute")
