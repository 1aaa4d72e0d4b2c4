"""A Neuron host with an image for something else."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.hosts import machine_image, template_types
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.neuron.managed_and_manual import PAGE
from phalanx.lint.world import World


@rule(
    id="NEU007",
    slug="neuron-ami",
    severity="error",
    areas=("neuron",),
    on=LaunchTemplate,
    message="The host is an Inferentia or Trainium type, and its image has no Neuron driver",
    why="Without the Neuron driver there are no /dev/neuron devices on the host, so a container "
    "that maps them does not start.",
    fix="Use /aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id.",
    sources=((PAGE, "2026-07-10"),),
    facts=("NEU-18", "CMP-13", "CMP-14"),
)
def neuron_ami(template: LaunchTemplate, world: World) -> Found:
    """Known images of ECS only; the Neuron image of Amazon Linux 2, past its end, is a warning."""
    rows, image = template_types(template), machine_image(template)
    if image is None or not rows or not all(row.neuron_devices for row in rows):
        return
    data = template.user_data
    if image.purpose == "neuron":
        if image.system == "al2":
            message = "The Neuron image of Amazon Linux 2 is past its end of life"
            yield Hit(template, "imageId", message, severity="warning")
    elif not template.has("userData") or (
        data and data.is_whole and "neuron" not in data.text.lower()
    ):
        yield Hit(template, "imageId", f"{rows[0].name} starts from a {image.purpose} image of ECS")
