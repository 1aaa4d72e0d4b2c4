"""A rule that relaunches one rank alone."""

from __future__ import annotations

from phalanx.lint.launch import EventTarget
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.gang.event_rule_tags import rule_of, task_patterns
from phalanx.lint.signs import trains
from phalanx.lint.world import World


@rule(
    id="GNG007",
    slug="lone-rank-relaunch",
    severity="warning",
    areas=("gang",),
    on=EventTarget,
    message="A stopped training task is relaunched alone, straight from the event",
    why="The other ranks of the run wait in a collective for the old world; a new rank cannot "
    "join it. Events come at least once, so two replacements may start, and a task that ended "
    "well is started again too.",
    fix="Send the event to a controller that knows the job: one decision for each attempt, all "
    "ranks stopped, the whole gang relaunched from the last complete checkpoint.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs_cwe_events.html",
            "2023-06-15",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/standalone-tasks.html",
            "2026-07-10",
        ),
    ),
    facts=("TRN-02", "TRN-85", "TRN-08"),
)
def lone_rank_relaunch(target: EventTarget, world: World) -> Found:
    """A rule on stopped tasks whose target runs a training task."""
    event_rule, task = rule_of(target, world), target.task
    if event_rule is None or task is None:
        return
    stopped = any(
        "STOPPED" in pattern.texts("detail.lastStatus") + pattern.texts("detail.desiredStatus")
        for pattern in task_patterns(event_rule)
    )
    if stopped and (task.is_multi_node or any(trains(c) for c in task.containers)):
        yield Hit(target)
