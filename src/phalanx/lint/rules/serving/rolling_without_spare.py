"""Rolling deployments that wait for a card that is not there."""

from __future__ import annotations

from phalanx.lint.launch import Service
from phalanx.lint.room import slots
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_LEAST = "deploymentConfiguration.minimumHealthyPercent"
_MOST = "deploymentConfiguration.maximumPercent"


@rule(
    id="SRV005",
    slug="rolling-deployment-without-spare-gpu",
    severity="warning",
    areas=("serving", "capacity"),
    on=Service,
    message="A rolling deployment waits for a GPU that is not there",
    why="With minimumHealthyPercent 100 a new task must run before an old one may stop. Where all "
    "cards are taken, the deployment (and every draining) hangs.",
    fix="Set minimumHealthyPercent to 0 (or low) and maximumPercent to 100, or let the group have "
    "one host more than the service needs.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DeploymentConfiguration.html",
            "2026-07-10",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/container-instance-draining.html",
            "2023-06-15",
        ),
    ),
    facts=("SRV-31", "CAP-56"),
)
def rolling_deployment_without_spare_gpu(service: Service, world: World) -> Found:
    """100/100 in any accelerated service; 100/more where the groups hold no spare slot."""
    task = service.task
    if task is None or not task.is_accelerated or service.is_daemon:
        return
    if service.text("deploymentConfiguration.strategy") not in (None, "ROLLING"):
        return
    if service.text("deploymentController.type") not in (None, "ECS"):
        return
    least, most = service.number(_LEAST), service.number(_MOST)
    if least is None and service.has(_LEAST):
        return
    least = 100.0 if least is None else least
    desired, room = service.desired, slots(service)
    if least >= 100 and most == 100:
        yield Hit(service, _MOST, "minimumHealthyPercent and maximumPercent 100: nothing can move")
    elif least >= 100 and desired and room is not None and room <= desired:
        text = f"The groups hold {room:g} tasks, and all {desired:g} must stay while new ones start"
        yield Hit(service, _LEAST, text)
