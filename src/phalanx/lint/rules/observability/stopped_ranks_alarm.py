"""Worlds with alarms, but none that sees a stopped rank."""

from __future__ import annotations

import re

from phalanx.lint.infra import EventRule
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.rules.observability.gpu_memory_alarm import metrics
from phalanx.lint.signs import trains
from phalanx.lint.workload import Workload
from phalanx.lint.world import World

_STOPPED = Pattern(
    r"RunningTaskCount|DesiredTaskCount|task|rank|step|progress|heartbeat|xid|hang", re.IGNORECASE
)


@rule(
    id="OBS006",
    slug="no-alarm-on-stopped-ranks",
    severity="info",
    areas=("observability", "gang"),
    on=Workload,
    message="There are alarms or event rules, but none sees a stopped or hanging rank",
    why="ECS never restarts a standalone task, and a rank that hangs keeps its task RUNNING: "
    "nobody is told while the rest of the gang waits on paid cards.",
    fix="Add a rule on ECS Task State Change with lastStatus STOPPED, and an alarm on the age of "
    "the last step or checkpoint.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs_cwe_events.html",
            "2026-07-09",
        ),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/standalone-tasks.html",
            "2026-07-10",
        ),
    ),
    facts=("MON-20", "MON-24", "TRN-02"),
)
def no_alarm_on_stopped_ranks(workload: Workload, world: World) -> Found:
    """Accelerated training in a world that declares alarms; event rules are looked at as well."""
    if not any(c.is_accelerated and trains(c) for c in workload.containers):
        return
    names = metrics(workload, world)
    if not names or any(_STOPPED.search(name) for name in names):
        return
    for rule_ in world.near(workload, EventRule):
        pattern = rule_.raw("eventPattern")
        if not isinstance(pattern, dict) or "Task State Change" in str(pattern):
            return
    yield Hit(workload)
