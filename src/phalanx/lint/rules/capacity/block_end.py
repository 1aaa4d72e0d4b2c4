"""A Capacity Block whose end nobody plans."""

from __future__ import annotations

from phalanx.facts.rows import settled
from phalanx.lint.capacity import ScalingGroup
from phalanx.lint.infra import EventRule, ScheduledAction
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="CAP016",
    slug="capacity-block-end-not-planned",
    severity="warning",
    areas=("capacity",),
    on=ScalingGroup,
    message="Nothing plans the end of the Capacity Block",
    why="Instances are ended from 30 minutes before the end of the block, and the warning comes "
    "only 10 minutes earlier. Managed scaling knows nothing of it and tries to replace them.",
    fix="Add a scheduled action that sets the group to 0 more than 30 minutes before the end, "
    "after a checkpoint, or a rule on the Capacity Block expiration warning.",
    sources=(
        (
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-how.html",
            "2026-07-10",
        ),
        (
            "https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-template-capacity-blocks.html",
            "2026-07-10",
        ),
    ),
    facts=("CAP-34", "CAP-41", "CAP-36"),
)
def capacity_block_end_not_planned(group: ScalingGroup, world: World) -> Found:
    """A group on a block with hosts from the start: a warning; one that begins at 0: an info."""
    template = group.launch_template
    if template is None or template.market != "capacity-block":
        return
    if world.near(group, ScheduledAction) or _is_watched(group, world):
        return
    held = [group.number(key) or 0 for key in ("minSize", "desiredCapacity")]
    minutes = settled("capacity-block.terminates-before-end-s") // 60
    yield Hit(
        group,
        message=f"Nothing plans the end of the Capacity Block: its hosts end {minutes} minutes "
        "before it (unless something outside these files scales the group to 0)",
        severity="" if max(held) > 0 else "info",
    )


def _is_watched(group: ScalingGroup, world: World) -> bool:
    for rule_ in world.near(group, EventRule):
        pattern = rule_.raw("eventPattern")
        if not isinstance(pattern, dict) or "Capacity Block" in str(pattern):
            return True
    return False
