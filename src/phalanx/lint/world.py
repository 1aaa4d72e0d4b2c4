"""All files of one call as one world: entities by kind, and the links between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from phalanx.lint.entity import Entity, Node, Scope
from phalanx.lint.values import HOLE, Ref

E = TypeVar("E", bound=Entity)


class World:
    """What the files of one call declare.

    Conditions of a template are tried out: every assumption gives its own set of entities, with
    its own scope, and links never cross from one assumption to another.
    """

    def __init__(self, entities: Iterable[Entity] = ()) -> None:
        self.entities: list[Entity] = []
        self._by_kind: dict[type[Entity], list[Entity]] = {}
        self._by_address: dict[tuple[Scope, str], Entity] = {}
        for entity in entities:
            self.add(entity)

    def add(self, entity: Entity) -> None:
        """Adds one entity; it is found under its class and every class above it."""
        entity.world = self
        self.entities.append(entity)
        for cls in type(entity).__mro__:
            if issubclass(cls, Entity):
                self._by_kind.setdefault(cls, []).append(entity)
            if cls is Entity:
                break
        if entity.address:
            self._by_address[entity.scope, entity.address] = entity

    def all(self, kind: type[E]) -> list[E]:
        """Every entity of a kind, over all files and assumptions."""
        return self._by_kind.get(kind, [])  # type: ignore[return-value]

    def near(self, entity: Entity, kind: type[E]) -> list[E]:
        """Those that exist together with `entity`: other assumptions of its file are left out."""
        document, number = entity.scope
        return [
            other
            for other in self.all(kind)
            if other.scope[0] != document or other.scope[1] == number
        ]

    def at_address(self, entity: Entity, address: str) -> Entity | None:
        """The entity with this logical id or resource address beside `entity`."""
        return self._by_address.get((entity.scope, address))

    def link(self, entity: Entity, value: object, kind: type[E]) -> E | None:
        """The entity that a reference, a name or an ARN means; None when it is not in the world."""
        if isinstance(value, Ref):
            found = self.at_address(entity, value.address)
            return found if isinstance(found, kind) else None
        if not isinstance(value, str) or not value or HOLE in value:
            return None
        matches = [other for other in self.near(entity, kind) if _is_called(other, value)]
        return matches[0] if len(matches) == 1 or _same_scope(matches) else None

    def links(self, entity: Entity, node: Node, kind: type[E]) -> list[E]:
        """The entities that the members of a list mean."""
        found = (self.link(entity, item.raw(), kind) for item in node.items())
        return [other for other in found if other is not None]

    def pointing_at(self, entity: E, kind: type[Entity], attribute: str) -> list[Entity]:
        """Entities of `kind` near this one whose link property `attribute` is, or holds, it."""
        out = []
        for other in self.near(entity, kind):
            target = getattr(other, attribute)
            if target is entity or (isinstance(target, list) and entity in target):
                out.append(other)
        return out


def _is_called(other: Entity, text: str) -> bool:
    name = other.name
    if not name or HOLE in name:
        return False
    if text == name:
        return True
    if text.startswith("arn:"):
        text = text.rsplit("/", 1)[-1]
    # A task definition is also called by family:revision.
    return text == name or text.partition(":")[0] == name


def _same_scope(matches: list[E]) -> bool:
    return bool(matches) and all(other.scope == matches[0].scope for other in matches)
