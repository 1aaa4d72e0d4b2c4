"""A security group of EFA hosts that does not allow itself, both ways."""

from __future__ import annotations

from phalanx.lint.capacity import LaunchTemplate, open_to_world
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World


@rule(
    id="EFA006",
    slug="efa-security-group-self",
    severity="error",
    areas=("efa", "security"),
    on=LaunchTemplate,
    message="The security group of an EFA host does not allow all traffic with itself",
    why="EFA traffic is allowed by the group itself as source and as destination, and by nothing "
    "else: egress to 0.0.0.0/0 does not count. Without both rules the nodes do not connect.",
    fix="Add two rules for all traffic (protocol -1): ingress from the group itself, and egress "
    "to the group itself.",
    sources=(("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html", "2026-07-10"),),
    guards=("GR5",),
    facts=("TRN-41",),
)
def efa_security_group_self(template: LaunchTemplate, world: World) -> Found:
    """Only where every group of the template is in the world, and none allows itself."""
    groups = template.security_groups
    named = [template.node("securityGroupIds"), *(i.node("groups") for i in template.interfaces)]
    wanted = {repr(item.raw()) for node in named for item in node.items()}
    if not template.efa_interfaces or not groups or len(wanted) != len(groups):
        return
    for direction in ("ingress", "egress"):
        answers = [group.allows_itself(direction) for group in groups]
        if any(answer is not False for answer in answers):
            continue
        message = f"No {direction} rule for all traffic with itself"
        if direction == "egress" and any(map(open_to_world, groups[0].rules("egress"))):
            message += "; egress to 0.0.0.0/0 does not count for EFA"
        yield Hit(groups[0], "securityGroup" + direction.capitalize(), message)
