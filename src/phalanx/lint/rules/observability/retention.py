"""Logs that are kept for ever."""

from __future__ import annotations

from phalanx.lint.infra import LogGroup
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="OBS003",
    slug="logs-without-retention",
    severity="info",
    areas=("observability", "cost"),
    on=LogGroup,
    message="The log group keeps its logs for ever",
    why="Ranks write much; without a retention the store grows with every run and is paid for "
    "long after anybody reads it.",
    fix="Set a retention (retention_in_days, RetentionInDays), such as 30 days; export what must "
    "stay longer to S3.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/using_awslogs.html",
            "2026-07-09",
        ),
    ),
    facts=("CST-14", "MON-28"),
)
def logs_without_retention(group: LogGroup, world: World) -> Found:
    """Missing, or 0, which means for ever."""
    if not group.has("retentionInDays") or group.number("retentionInDays") == 0:
        yield Hit(group, "retentionInDays")
