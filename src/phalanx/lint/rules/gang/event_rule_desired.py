"""An event rule on the desired status."""

from __future__ import annotations

from phalanx.lint.infra import EventRule
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.gang.event_rule_tags import PAGE, task_patterns
from phalanx.lint.world import World


@rule(
    id="GNG006",
    slug="event-rule-desired-status",
    severity="warning",
    areas=("gang",),
    on=EventRule,
    message="The event rule waits for the desired status STOPPED, not for the end of the task",
    why="desiredStatus becomes STOPPED before the containers end: the event comes several times "
    "and without exit codes, while the old rank may still write.",
    fix='Match "lastStatus": ["STOPPED"], and drop deliveries whose detail.version is not newer.',
    sources=((PAGE, "2023-06-15"),),
    facts=("TRN-86", "TRN-82"),
)
def event_rule_desired_status(event_rule: EventRule, world: World) -> Found:
    """Where lastStatus is not asked for as well."""
    for pattern in task_patterns(event_rule):
        wanted = pattern.texts("detail.desiredStatus")
        if "STOPPED" in wanted and not pattern.has("detail.lastStatus"):
            yield Hit(pattern, "detail.desiredStatus")
