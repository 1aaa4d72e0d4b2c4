"""Deployments that need the cards twice."""

from __future__ import annotations

from phalanx.lint.launch import Service
from phalanx.lint.room import cards_of, slots
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_STRATEGY = "deploymentConfiguration.strategy"
_KINDS = ("BLUE_GREEN", "LINEAR", "CANARY")


@rule(
    id="SRV004",
    slug="blue-green-needs-twice-the-gpus",
    severity="warning",
    areas=("serving", "cost"),
    on=Service,
    message="Blue/green, linear and canary deployments need up to twice the GPUs",
    why="Old and new tasks run side by side until the bake time is over. Without that many free "
    "cards the new tasks wait in PROVISIONING and the deployment hangs.",
    fix="Let the group grow to twice the hosts, reserve a second slot, or deploy ROLLING with "
    "minimumHealthyPercent 0 (or low) and maximumPercent 100.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/deployment-type-blue-green.html",
            "2026-07-10",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DeploymentConfiguration.html",
            "2026-05-20",
        ),
    ),
    facts=("SRV-32", "SRV-41", "CST-12"),
)
def blue_green_needs_twice_the_gpus(service: Service, world: World) -> Found:
    """A warning where the groups are known to be too small, else an info."""
    task = service.task
    kind = service.text(_STRATEGY) or ""
    path = _STRATEGY
    if service.text("deploymentController.type") == "CODE_DEPLOY":
        kind, path = "CODE_DEPLOY", "deploymentController.type"
    if task is None or not task.is_accelerated or kind not in (*_KINDS, "CODE_DEPLOY"):
        return
    desired, room, cards = service.desired, slots(service), cards_of(task)
    if desired is None or room is None or not cards:
        yield Hit(service, path, severity="info")
    elif room < 2 * desired:
        text = f"A {kind} deployment runs up to {2 * desired:g} tasks; there is room for {room:g}"
        yield Hit(service, path, text)
