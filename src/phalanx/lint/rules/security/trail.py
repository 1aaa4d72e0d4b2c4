"""A trail that records nothing."""

from __future__ import annotations

from phalanx.lint.infra import Trail
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="SEC016",
    slug="trail-off",
    severity="warning",
    areas=("security",),
    on=Trail,
    message="The trail does not record",
    why="CloudTrail is the only record of who ran, stopped or changed tasks; while it is off, "
    "nothing can be traced back.",
    fix="Switch logging on, for all regions, with log file validation.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/logging-using-cloudtrail.html",
            "2026-07-10",
        ),
    ),
    guards=("SB7",),
    facts=("SCY-31",),
)
def trail_off(trail: Trail, world: World) -> Found:
    """Logging off: a warning. One region, or no validation: an info."""
    for key in ("isLogging", "enableLogging"):
        if trail.flag(key) is False:
            yield Hit(trail, key)
            return
    for key in ("isMultiRegionTrail", "enableLogFileValidation"):
        if trail.flag(key) is False:
            text = "one region only" if "Region" in key else "without log file validation"
            yield Hit(trail, key, f"The trail records {text}", severity="info")
