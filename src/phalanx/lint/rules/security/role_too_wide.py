"""Roles of tasks that may do everything."""

from __future__ import annotations

from phalanx.lint.entity import Entity, Node
from phalanx.lint.infra import Policy, Role
from phalanx.lint.policy import Statement, statements
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_SERVICES = frozenset({"ecs-tasks.amazonaws.com", "ec2.amazonaws.com", "batch.amazonaws.com"})
_ALL = frozenset({"*", "*:*"})
_WIDE = ("AdministratorAccess", "PowerUserAccess", "IAMFullAccess")


@rule(
    id="SEC005",
    slug="role-allows-everything",
    severity="error",
    areas=("security",),
    on=Entity,
    message="A role of tasks or hosts may do everything",
    why="Whoever gets into one container (a notebook, an open dashboard, a model that runs code) "
    "owns the account.",
    fix="Allow the actions that the program calls on named resources: its buckets and prefixes, "
    "its secrets, its log group; limit iam:PassRole by role and iam:PassedToService.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-iam-roles.html",
            "2026-07-10",
        ),
        (
            "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html",
            "2026-07-10",
        ),
    ),
    guards=("SB1",),
    facts=("SCY-01", "SCY-05"),
)
def role_allows_everything(entity: Entity, world: World) -> Found:
    """Inline and attached policies of roles that ECS tasks, hosts or Batch assume.

    `*` on `*`: an error. A whole service on `*`, or PassRole on `*`: a warning.
    """
    if isinstance(entity, Role) and _is_ours(entity):
        for item in entity.items("policies"):
            yield from _judge(item.node("policyDocument"))
        for arn in entity.items("managedPolicyArns"):
            name = (arn.text() or "").rpartition("/")[2]
            if name in _WIDE:
                yield Hit(arn, message=f"The role has {name}")
    elif isinstance(entity, Policy) and any(_is_ours(r) for r in _roles(entity, world)):
        yield from _judge(entity.node("policyDocument"))


def _roles(policy: Policy, world: World) -> list[Role]:
    found = world.links(policy, policy.node("roles"), Role)
    one = world.link(policy, policy.raw("role"), Role)
    return [*found, one] if one is not None else found


def _is_ours(role: Role) -> bool:
    trusted = statements(role.node("assumeRolePolicyDocument"))
    return any(_SERVICES & set(statement.services) for statement in trusted)


def _judge(document: Node) -> Found:
    for statement in statements(document):
        if statement.effect != "Allow" or "*" not in statement.resources:
            continue
        what, severity = _what(statement)
        if what:
            path = "Action" if statement.node.has("Action") else ""
            yield Hit(statement.node, path, what, severity=severity)


def _what(statement: Statement) -> tuple[str, str]:
    actions = {action.lower() for action in statement.actions}
    if actions & _ALL:
        return "The role may do everything on everything", "warning" if statement.conditions else ""
    if {"iam:*", "iam:passrole"} & actions and not statement.conditions:
        return "The role may pass any role to any service (iam:PassRole on *)", "warning"
    whole = sorted(a for a in actions if a.endswith(":*") and a.partition(":")[0] in _DATA)
    if whole and not statement.conditions:
        return f"The role may use all of {', '.join(whole)} on every resource", "warning"
    return "", ""


_DATA = frozenset({"s3", "secretsmanager", "ssm", "kms", "dynamodb", "ec2", "ecs", "sts"})
