"""Sticky sessions in front of model servers."""

from __future__ import annotations

from phalanx.lint.infra import TargetGroup
from phalanx.lint.launch import Service
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="SRV011",
    slug="sticky-sessions-on-model-server",
    severity="info",
    areas=("serving",),
    on=Service,
    message="Sticky sessions tie heavy callers to one card",
    why="Requests to model servers differ much in length. Stickiness keeps sending a heavy caller "
    "to the same task, while new tasks get little; autoscaling then helps nobody.",
    fix="Switch stickiness off and use least_outstanding_requests, unless callers really gain from "
    "a prefix cache on their task.",
    sources=(
        (
            "https://docs.aws.amazon.com/elasticloadbalancing/latest/application/"
            "edit-target-group-attributes.html",
            "2026-05-20",
        ),
    ),
    facts=("SRV-17",),
)
def sticky_sessions_on_model_server(service: Service, world: World) -> Found:
    """Target groups of accelerated services."""
    task = service.task
    if task is None or not task.is_accelerated:
        return
    for group in service.target_groups:
        path = _sticky(group)
        if path:
            yield Hit(group, path)


def _sticky(group: TargetGroup) -> str:
    if group.has("stickiness.type") and group.flag("stickiness.enabled") is not False:
        return "stickiness" if not group.has("stickiness.enabled") else "stickiness.enabled"
    for n, item in enumerate(group.items("targetGroupAttributes")):
        if item.text("key") == "stickiness.enabled" and item.flag("value") is True:
            return f"targetGroupAttributes[{n}].value"
    return ""
