"""A GPU host that registers without its GPUs."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.hosts import machine_image, template_types
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_GUIDE = "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/"


@rule(
    id="PLC010",
    slug="host-registers-without-gpu",
    severity="error",
    areas=("placement", "gpu"),
    on=LaunchTemplate,
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
def host_registers_without_gpu(template: LaunchTemplate, world: World) -> Found:
    """GPU support switched off, or an image without a driver and nothing that installs one."""
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
