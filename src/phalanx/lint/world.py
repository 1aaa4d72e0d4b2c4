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
        self._by_name: dict[type[Entity], dict[str, list[Entity]]] = {}
        self._reverse: dict[tuple[type[Entity], str], dict[Entity, list[Entity]]] = {}
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

    @property
    def kinds(self) -> frozenset[str]:
        """Names of the classes of its entities, and of the classes above them."""
        return frozenset(kind.__name__ for kind in self._by_kind)

    def all(self, kind: type[E]) -> list[E]:
        """Every entity of a kind, over all files and assumptions."""
        return self._by_kind.get(kind, [])  # type: ignore[return-value]

    def near(self, entity: Entity, kind: type[E]) -> list[E]:
        """Those that exist together with `entity`: other assumptions of its file are left out."""
        return [other for other in self.all(kind) if _together(entity, other)]

    def at_address(self, entity: Entity, address: str) -> Entity | None:
        """The entity with this logical id or resource address beside `entity`."""
        return self._by_address.get((entity.scope, address))

    def link(self, entity: Entity, value: object, kind: type[E]) -> E | None:
        """The entity that a reference, a name or an ARN means; None when it is not in the world."""
        if isinstance(value, Ref):
            there = self.at_address(entity, value.address)
            return there if isinstance(there, kind) else None
        if not isinstance(value, str) or not value or HOLE in value:
            return None
        names = self._names(kind)
        found = [other for key in _spellings(value) for other in names.get(key, ())]
        matches = [other for other in dict.fromkeys(found) if _together(entity, other)]
        return matches[0] if matches and _same_document(matches) else None

    def links(self, entity: Entity, node: Node, kind: type[E]) -> list[E]:
        """The entities that the members of a list mean."""
        found = (self.link(entity, item.raw(), kind) for item in node.items())
        return [other for other in found if other is not None]

    def pointing_at(self, entity: E, kind: type[Entity], attribute: str) -> list[Entity]:
        """Entities of `kind` near this one whose link property `attribute` is, or holds, it."""
        key = (kind, attribute)
        if key not in self._reverse:
            self._reverse[key] = self._turned_round(kind, attribute)
        return [o for o in self._reverse[key].get(entity, ()) if _together(entity, o)]

    def _turned_round(self, kind: type[Entity], attribute: str) -> dict[Entity, list[Entity]]:
        out: dict[Entity, list[Entity]] = {}
        for other in self.all(kind):
            target = getattr(other, attribute)
            for one in target if isinstance(target, list) else [target]:
                if one is not None:
                    out.setdefault(one, []).append(other)
        return out

    def _names(self, kind: type[E]) -> dict[str, list[E]]:
        if kind not in self._by_name:
            made: dict[str, list[Entity]] = {}
            for other in self.all(kind):
                name = other.name
                if name and HOLE not in name:
                    made.setdefault(name, []).append(other)
            self._by_name[kind] = made
        return self._by_name[kind]  # type: ignore[return-value]


def _together(entity: Entity, other: Entity) -> bool:
    return other.scope[0] != entity.scope[0] or other.scope[1] == entity.scope[1]


def _spellings(text: str) -> list[str]:
    """A name as it stands, as the end of an ARN, and without a revision."""
    tail = text.rsplit("/", 1)[-1] if text.startswith("arn:") else text
    return list(dict.fromkeys((text, tail, tail.partition(":")[0])))


def _same_document(matches: list[E]) -> bool:
    return all(other.scope[0] == matches[0].scope[0] for other in matches)
