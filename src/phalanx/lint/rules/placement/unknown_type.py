"""A type of which nothing is known."""

from __future__ import annotations

from phalanx.facts.instances import API_PAGE, instance
from phalanx.lint.entity import Entity
from phalanx.lint.hosts import ACCELERATED, type_names
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.values import HOLE
from phalanx.lint.workload import Workload, pinned_types
from phalanx.lint.world import World


@rule(
    id="PLC009",
    slug="type-without-figures",
    severity="info",
    areas=("placement", "gpu"),
    on=Entity,
    message="The tables hold no figures for this instance type, so nothing is checked against it",
    why="Figures of accelerators are taken from a source with a date and never guessed; a type "
    "that is newer than the tables, or misspelt, stays unchecked.",
    fix="Renew the tables from your account (phalanx facts refresh), or correct the name.",
    sources=((API_PAGE, "undated"),),
    guards=("GR9",),
    facts=("INS-01", "INS-03"),
)
def type_without_figures(entity: Entity, world: World) -> Found:
    """Names that look accelerated, of templates, compute environments and pinned tasks."""
    names = type_names(entity)
    path = "instanceType"
    if isinstance(entity, Workload):
        path = "placementConstraints"
        pins = [c.text("expression") or "" for c in entity.items(path)]
        names = [name for pin in pins for name in pinned_types(pin)]
    elif names and not entity.has("instanceType"):
        path = "computeResources.instanceTypes"
    for name in dict.fromkeys(names):
        odd = HOLE in name or "*" in name or not ACCELERATED.match(name)
        if not odd and instance(name) is None:
            yield Hit(entity, path, f"No figures for {name}: nothing is checked against it")
            return
