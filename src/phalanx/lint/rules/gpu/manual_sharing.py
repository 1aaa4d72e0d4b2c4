"""Sharing a GPU by hand, half done."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.gpu.sharing_mixed import NONE
from phalanx.lint.workload import Container, Variable
from phalanx.lint.world import World


@rule(
    id="GPU005",
    slug="manual-sharing-incomplete",
    severity="warning",
    areas=("gpu",),
    on=Container,
    message="NVIDIA_VISIBLE_DEVICES is set, but no container of the task asks for a GPU",
    why="Without a GPU requirement ECS neither hands a card over nor counts it, and the variable "
    "does not switch the container runtime: it works only where the host's default runtime is "
    "nvidia, and then every task on the host shares the card without any limit.",
    fix='Ask for the card: resourceRequirements [{"type": "GPU", "value": "1"}]. For sharing use '
    "sharingStrategy.nvidiaMps; by hand, for development only, make nvidia the default runtime "
    "in the user data.",
    sources=(
        ("https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-gpu.html", "2026-07-10"),
    ),
    guards=("GR3",),
    facts=("CMP-24", "CMP-43"),
)
def manual_sharing_incomplete(container: Container, world: World) -> Found:
    """Silent where a host near it has nvidia as default; one named card alone is an info."""
    variable = shares_by_hand(container)
    if variable is None or container.is_privileged:
        return
    templates = world.near(container.workload, LaunchTemplate)
    texts = [t.user_data.text if t.user_data else "" for t in templates]
    if any("default-runtime" in text and "nvidia" in text for text in texts):
        return
    if any(t.has("userData") and t.user_data is None for t in templates):
        return
    one = (variable.content or "").lower() != "all" and not templates
    yield Hit(variable, severity="info" if one else "")


def shares_by_hand(container: Container) -> Variable | None:
    """The variable by which a container helps itself, where the task asks for no GPU."""
    task = container.workload
    variable = container.environment.get("NVIDIA_VISIBLE_DEVICES")
    if task.flavour != "ecs" or variable is None or (variable.content or "").lower() in NONE:
        return None
    if any(c.has("resourceRequirements") and c.gpus != 0 for c in task.containers):
        return None
    if any(c.maps("/dev/nvidia") or c.wants_neuron for c in task.containers):
        return None
    return variable
