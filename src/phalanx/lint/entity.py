"""Normalised data with places: the nodes that rules read.

Words are those of the AWS API in lowerCamelCase (`containerDefinitions[0].linuxParameters`),
whatever the file was written in. Missing and unknown are kept apart: the typed getters answer None
for both, `has` is True for unknown, so a rule about something missing asks `not node.has(...)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from phalanx.lint.place import Origin, Path, Place, Span, parse_path
from phalanx.lint.values import UNKNOWN, Unknown

if TYPE_CHECKING:
    from phalanx.lint.world import World

_MISSING = object()
Scope = tuple[str, int]
"""(document or configuration, number of the assumption about its conditions)."""


class Node:
    """A piece of normalised data: `data` is plain Python, `base` its path in the document."""

    __slots__ = ("__dict__", "base", "data", "origin")

    def __init__(self, data: Any, origin: Origin, base: Path = ()) -> None:
        self.data = data
        self.origin = origin
        self.base = base

    def raw(self, path: str = "") -> Any:
        """The value; None when it is missing, `UNKNOWN` or a `Ref` when it cannot be known."""
        value = self._walk(path)
        return None if value is _MISSING else value

    def has(self, path: str) -> bool:
        """Written here, or possibly so: False means that it is certainly missing (or null)."""
        value = self._walk(path)
        return value is not _MISSING and value is not None

    def text(self, path: str = "") -> str | None:
        """A text or number as text; it may hold `HOLE`s. None when missing or unknown."""
        value = self._walk(path)
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value) if isinstance(value, (int, float)) else None

    def number(self, path: str = "") -> float | None:
        """A number, also one written as text. None when missing or unknown."""
        value = self._walk(path)
        if isinstance(value, bool):
            return None
        if isinstance(value, (int, float)):
            return float(value)
        if isinstance(value, str):
            try:
                return float(value)
            except ValueError:
                return None
        return None

    def flag(self, path: str = "") -> bool | None:
        """A boolean, also one written as text. None when missing or unknown."""
        value = self._walk(path)
        if isinstance(value, str):
            return {"true": True, "false": False}.get(value.lower())
        return value if isinstance(value, bool) else None

    def items(self, path: str = "") -> list[Node]:
        """The members of a list as nodes; empty when it is missing or unknown."""
        value = self._walk(path)
        if not isinstance(value, list):
            return []
        base = self.base + parse_path(path)
        return [Node(item, self.origin, (*base, n)) for n, item in enumerate(value)]

    def texts(self, path: str = "") -> list[str]:
        """The known texts of a list."""
        return [text for text in (item.text() for item in self.items(path)) if text is not None]

    def members(self, path: str = "") -> Iterator[tuple[str, Node]]:
        """Key and node of every member of an object."""
        value = self._walk(path)
        if isinstance(value, dict):
            base = self.base + parse_path(path)
            for key, item in value.items():
                yield str(key), Node(item, self.origin, (*base, str(key)))

    def node(self, path: str) -> Node:
        """The piece at a path, missing or not."""
        value = self._walk(path)
        data = None if value is _MISSING else value
        return Node(data, self.origin, self.base + parse_path(path))

    def place(self, path: str = "") -> Place:
        """Where it stands; a missing member is where it belongs."""
        return self.origin.locate(self.base + parse_path(path))

    def span(self, path: str = "") -> Span | None:
        """Where the scalar is written literally."""
        return self.origin.span(self.base + parse_path(path))

    def _walk(self, path: str) -> Any:
        value = self.data
        if not path:
            return value
        for step in parse_path(path):
            if isinstance(value, dict):
                value = value.get(step, _MISSING)
            elif isinstance(value, list) and isinstance(step, int):
                value = value[step] if step < len(value) else _MISSING
            elif isinstance(value, Unknown):
                return UNKNOWN
            else:
                return _MISSING
        return value


class Entity(Node):
    """One thing that a file declares. `name` is what other files call it, if it is known."""

    kind = "thing"
    name_paths: tuple[str, ...] = ("name",)
    world: World

    def __init__(
        self,
        data: Any,
        origin: Origin,
        base: Path = (),
        *,
        address: str = "",
        scope: Scope = ("", 0),
    ) -> None:
        super().__init__(data, origin, base)
        self.address = address
        self.scope = scope

    @property
    def name(self) -> str | None:
        """The name that other files use."""
        for path in self.name_paths:
            text = self.text(path)
            if text:
                return text
        return None

    @property
    def file(self) -> str:
        """The file that declares it."""
        return self.origin.file
