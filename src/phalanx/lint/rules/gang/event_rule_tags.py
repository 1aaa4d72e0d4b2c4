"""An event rule on tags of a task."""

from __future__ import annotations

from collections.abc import Iterator

from phalanx.lint.entity import Node
from phalanx.lint.infra import EventRule
from phalanx.lint.launch import EventTarget
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

PAGE = "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs_task_events.html"
_KINDS = frozenset({"ECS Task State Change", "ECS Container Instance State Change"})


@rule(
    id="GNG005",
    slug="event-rule-on-tags",
    severity="error",
    areas=("gang",),
    on=EventRule,
    message="The event rule asks for tags, which ECS events do not carry",
    why="The detail of a task state change holds no tags, so the pattern never matches and no "
    "relaunch ever happens.",
    fix="Match detail.group, detail.startedBy or detail.clusterArn, which you set at launch, or "
    "look the task up in the target.",
    sources=((PAGE, "2026-05-20"),),
    facts=("TRN-83",),
)
def event_rule_on_tags(event_rule: EventRule, world: World) -> Found:
    """Any key called tags below the detail of ECS events."""
    for pattern in task_patterns(event_rule):
        detail = pattern.node("detail")
        for key, node in detail.members():
            if key.lower() in ("tags", "tasktags", "resourcetags"):
                yield Hit(node, message=f"detail.{key} is asked for; ECS events carry no tags")
        for branch in detail.items("$or"):
            if branch.has("tags"):
                yield Hit(branch, "tags")


def task_patterns(event_rule: EventRule) -> Iterator[Node]:
    """The pattern of a rule on ECS tasks or instances."""
    pattern = event_rule.node("eventPattern")
    kinds = {
        kind for key, node in pattern.members() if key == "detail-type" for kind in node.texts()
    }
    if "aws.ecs" in pattern.texts("source") and (kinds & _KINDS or not kinds):
        yield pattern


def rule_of(target: EventTarget, world: World) -> EventRule | None:
    """The event rule that a target belongs to, if it is in the world."""
    for event_rule in world.near(target, EventRule):
        if event_rule.origin is target.origin:
            return event_rule
    return world.link(target, target.raw("rule"), EventRule)
