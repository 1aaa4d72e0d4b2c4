"""Statements of IAM policies, with every member as a list."""

from __future__ import annotations

from typing import Any

from phalanx.frozen import frozen
from phalanx.lint.entity import Node


@frozen
class Statement:
    """One statement. Unknown members leave the lists shorter, `is_known` says so."""

    node: Node
    effect: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    services: tuple[str, ...]
    """Service principals that may assume the role."""
    conditions: dict[str, Any]
    """Condition keys, operators aside: `aws:SourceAccount` → its value."""
    is_known: bool


def statements(document: Node) -> list[Statement]:
    """The statements of a policy document (`role.node("assumeRolePolicyDocument")`)."""
    raw = document.raw("Statement")
    nodes = [document.node("Statement")] if isinstance(raw, dict) else document.items("Statement")
    return [_statement(node) for node in nodes if isinstance(node.data, dict)]


def _statement(node: Node) -> Statement:
    conditions: dict[str, Any] = {}
    for _, test in node.members("Condition"):
        conditions.update({key: value.raw() for key, value in test.members()})
    actions, resources = _texts(node, "Action"), _texts(node, "Resource")
    services = _texts(node, "Principal.Service")
    return Statement(
        node=node,
        effect=node.text("Effect") or "Allow",
        actions=tuple(t for t in actions if t),
        resources=tuple(t for t in resources if t),
        services=tuple(t for t in services if t),
        conditions=conditions,
        is_known=None not in (*actions, *resources, *services),
    )


def _texts(node: Node, path: str) -> list[str | None]:
    if not node.has(path):
        return []
    if isinstance(node.raw(path), list):
        return [item.text() for item in node.items(path)]
    return [node.text(path)]
