"""GPUs of ECS Anywhere hosts that nobody registers."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.entity import Entity
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import TaskDefinition
from phalanx.lint.world import World

_INSTALL = Pattern(r"ecs-anywhere-install[\w.-]*\.sh(?P<rest>(?:\\\n|[^\n;&|])*)")
_RUN = Pattern(r"(?:sudo\s+|ba)?sh\s+\S*$|\./\S*$|sudo\s+\S*$|^\s*\S*$")


@rule(
    id="HST006",
    slug="anywhere-gpu-flag",
    severity="warning",
    areas=("host", "gpu"),
    on=Entity,
    message="The ECS Anywhere host is installed without --enable-gpu",
    why="The install script turns GPU support on only with --enable-gpu, and needs the driver "
    "there before. Without it the host registers no GPU and GPU tasks are never placed.",
    fix="Install the NVIDIA driver first, then run ecs-anywhere-install.sh with --enable-gpu.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-anywhere-registration.html",
            "2026-07-10",
        ),
    ),
    facts=("CMP-28", "CMP-22"),
)
def anywhere_gpu_flag(entity: Entity, world: World) -> Found:
    """Install lines of GPU hosts; an info for a GPU task that may only run on such hosts."""
    if isinstance(entity, LaunchTemplate):
        text = entity.user_data.text if entity.user_data else ""
        for match in _INSTALL.finditer(text):
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            is_run = _RUN.search(line) and "--activation" in match["rest"]
            if is_run and "--enable-gpu" not in match["rest"] and _wanted(entity, world):
                yield Hit(entity, "userData")
                return
    elif isinstance(entity, TaskDefinition) and entity.launch_types == {"EXTERNAL"}:
        for container in entity.containers:
            if container.wants_gpu:
                message = "A GPU task for ECS Anywhere: its hosts need --enable-gpu at install"
                yield Hit(container, "resourceRequirements", message, severity="info")
                return


def _wanted(template: LaunchTemplate, world: World) -> bool:
    """A GPU driver is on the host, or a task near it wants a GPU outside of AWS."""
    text = template.user_data.text if template.user_data else ""
    tasks = world.near(template, TaskDefinition)
    outside = any(t.is_accelerated and "EXTERNAL" in t.launch_types for t in tasks)
    return outside or "nvidia" in text.lower()
