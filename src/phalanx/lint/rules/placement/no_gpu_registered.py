"""A GPU host that registers without its GPUs."""

from __future__ import annotations

from phalanx.facts.instances import instance
from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.entity import Entity
from phalanx.lint.hosts import machine_image, template_types, type_names
from phalanx.lint.infra import ComputeEnvironment
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_GUIDE = "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/"


@rule(
    id="PLC010",
    slug="host-registers-without-gpu",
    severity="error",
    areas=("placement", "gpu"),
    on=Entity,
    message="The host joins the cluster without its GPUs",
    why="The agent registers GPUs only with GPU support on and the NVIDIA driver there at boot; "
    "otherwise it registers none and every GPU task stays unplaceable.",
    fix="Use the GPU image of ECS (/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/"
    "recommended/image_id) and leave ECS_ENABLE_GPU_SUPPORT at true.",
    sources=(
        (_GUIDE + "ecs-gpu.html", "2026-07-10"),
        ("https://github.com/aws/amazon-ecs-agent/issues/3823", "undated"),
    ),
    facts=("CMP-12", "CMP-22", "CMP-23"),
)
def host_registers_without_gpu(entity: Entity, world: World) -> Found:
    """Launch templates; compute environments of Batch that name an image type without a driver."""
    if isinstance(entity, LaunchTemplate):
        yield from _template(entity)
    elif isinstance(entity, ComputeEnvironment):
        rows = [instance(name) for name in type_names(entity)]
        if not rows or not all(row is not None and row.gpus for row in rows):
            return
        for item in entity.items("computeResources.ec2Configuration"):
            kind = item.text("imageType")
            if kind in ("ECS_AL2", "ECS_AL2023") and not item.has("imageIdOverride"):
                message = f"Image type {kind} has no NVIDIA driver (use {kind}_NVIDIA)"
                yield Hit(item, "imageType", message, severity="warning")


def _template(template: LaunchTemplate) -> Found:
    rows = template_types(template)
    if not rows or not all(row.gpus for row in rows):
        return
    data = template.user_data
    if data and data.settings.get("ECS_ENABLE_GPU_SUPPORT", "").lower() == "false":
        yield Hit(template, "userData", f"GPU support is off on {rows[0].name}")
        return
    image = machine_image(template)
    if image is None or image.purpose == "gpu":
        return
    if not template.has("userData") or (
        data and data.is_whole and "nvidia" not in data.text.lower()
    ):
        message = f"{rows[0].name} starts from an image without the NVIDIA driver"
        yield Hit(template, "imageId", message)
