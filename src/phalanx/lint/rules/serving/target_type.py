"""Target groups of the wrong type for the task's network mode."""

from __future__ import annotations

from phalanx.lint.launch import Service
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="SRV006",
    slug="target-type-does-not-fit-network-mode",
    severity="error",
    areas=("serving",),
    on=Service,
    message="The target type does not fit the task's network mode",
    why="Tasks with awsvpc register by IP address, tasks with bridge or host by instance and port: "
    "the service is refused with any other target type.",
    fix="Set the target type to ip for awsvpc, to instance for bridge and host.",
    sources=(
        ("https://docs.aws.amazon.com/AmazonECS/latest/developerguide/alb.html", "2026-07-10"),
    ),
    facts=("SRV-14",),
)
def target_type_does_not_fit_network_mode(service: Service, world: World) -> Found:
    """Where task definition and target group are in the world; a missing type means instance."""
    task = service.task
    if task is None or task.network_mode is None:
        return
    wanted = "ip" if task.network_mode == "awsvpc" else "instance"
    for group in service.target_groups:
        given = group.text("targetType")
        if given is None:
            if group.has("targetType"):
                continue
            given = "instance"
        if given in ("ip", "instance") and given != wanted:
            text = f"Network mode {task.network_mode} needs target type {wanted}, not {given}"
            yield Hit(group, "targetType", text)
