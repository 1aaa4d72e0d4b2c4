"""Strategies that the API refuses."""

from __future__ import annotations

from phalanx.facts.rows import settled
from phalanx.lint.entity import Entity, Node
from phalanx.lint.infra import Cluster, ClusterProviders
from phalanx.lint.launch import EventTarget, Launcher
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_KEYS = ("capacityProviderStrategy", "defaultCapacityProviderStrategy")


@rule(
    id="CAP010",
    slug="strategy-is-refused",
    severity="error",
    areas=("capacity",),
    on=Entity,
    message="The capacity provider strategy is refused",
    why="A weight defaults to 0, and a provider of weight 0 gets no tasks: where all of several "
    "are 0, RunTask and CreateService fail. Only one item may set a base, and at most 20 "
    "providers may stand in a strategy.",
    fix="Give at least one provider a weight of 1 or more, and a base to at most one.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_CapacityProviderStrategyItem.html",
            "2026-05-20",
        ),
    ),
    guards=("GR2",),
    facts=("CAP-20", "CAP-21"),
)
def strategy_is_refused(entity: Entity, world: World) -> Found:
    """Strategies of services, RunTask inputs, event targets and clusters."""
    if not isinstance(entity, (Launcher, Cluster, ClusterProviders)):
        return
    for key in _KEYS:
        items = entity.items(key)
        what = _wrong(items, settled("provider.max-in-strategy"))
        if what and not (isinstance(entity, EventTarget) and len(items) < 2):
            yield Hit(entity, key, what)


def _wrong(items: list[Node], most: int) -> str:
    if len(items) > 1 and all(_is_zero(item) for item in items):
        return "Every provider of the strategy has weight 0: no task can be placed"
    if sum((item.number("base") or 0) > 0 for item in items) > 1:
        return "More than one item of the strategy sets a base"
    if len(items) > most:
        return f"The strategy names {len(items)} providers; at most {most} are allowed"
    if any((item.number("weight") or 0) > 1000 for item in items):
        return "A weight is above 1000"
    return ""


def _is_zero(item: Node) -> bool:
    return isinstance(item.data, dict) and (item.number("weight") == 0 or not item.has("weight"))
