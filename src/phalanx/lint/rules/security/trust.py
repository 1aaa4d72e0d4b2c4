"""Trust policies that anybody, or any source, may use."""

from __future__ import annotations

from phalanx.lint.infra import Role
from phalanx.lint.policy import Statement, statements
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_SOURCES = ("aws:sourceaccount", "aws:sourcearn", "aws:sourceorgid", "aws:sourceorgpaths")


@rule(
    id="SEC006",
    slug="trust-without-source-condition",
    severity="error",
    areas=("security",),
    on=Role,
    message="The trust of the role names no source",
    why="Without aws:SourceAccount and aws:SourceArn another account's use of the service can be "
    "turned against this role (confused deputy). A principal of * lets every account in.",
    fix='Add StringEquals "aws:SourceAccount" with your account and ArnLike "aws:SourceArn" with '
    "arn:aws:ecs:<region>:<account>:*; never a principal of *.",
    sources=(
        ("https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html", "2026-07-10"),
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-iam-roles.html",
            "2026-07-10",
        ),
    ),
    guards=("SB1",),
    facts=("SCY-02", "SCY-03"),
)
def trust_without_source_condition(role: Role, world: World) -> Found:
    """Open to everybody: an error. Task roles without a source condition: an info."""
    for statement in statements(role.node("assumeRolePolicyDocument")):
        if statement.effect != "Allow" or not statement.is_known:
            continue
        conditions = {key.lower() for key in statement.conditions}
        if _is_anybody(statement):
            if not conditions:
                yield Hit(statement.node, "Principal", "Every AWS account may assume this role")
        elif "ecs-tasks.amazonaws.com" in statement.services and not conditions & set(_SOURCES):
            yield Hit(statement.node, severity="info")


def _is_anybody(statement: Statement) -> bool:
    node = statement.node
    if node.text("Principal") == "*":
        return True
    return node.text("Principal.AWS") == "*" or "*" in node.texts("Principal.AWS")
