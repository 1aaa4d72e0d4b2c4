"""Where each value of a document stands: lines and columns, counted from 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

Place = tuple[int, int]
"""(line, column), both from 1."""
Path = Sequence["str | int"]
"""Members from the root down: `("resources", "cpus")`, `("command", 1)`."""
Tags = Callable[[str, object], "tuple[str, object] | None"]
"""Meaning of a YAML tag: (`!Ref`, value) → (`Ref`, value), read as `{Ref: value}`; None refuses."""

BYTES_MAX = 5 * 1024 * 1024
"""Largest document that is read."""
DEPTH_MAX = 100
"""Deepest nesting of lists and mappings."""


class Spot:
    """Place of one value, and of the members below it."""

    __slots__ = ("column", "line", "members")

    def __init__(self, line: int, column: int) -> None:
        self.line = line
        self.column = column
        self.members: dict[str, tuple[Place, Spot]] | list[Spot] | None = None

    @property
    def place(self) -> Place:
        """(line, column) of the value."""
        return self.line, self.column


class Document:
    """A file's plain values, and the place of every one of them.

    `value` holds dicts with text keys, lists, str, int, float, bool and None only. Values that an
    alias names twice are the same object: treat them as read-only.
    """

    def __init__(self, file: str, text: str, value: object, spots: Callable[[], Spot]) -> None:
        self.file = file
        self.text = text
        self.value = value
        self._spots = spots
        self._root: Spot | None = None

    @property
    def root(self) -> Spot:
        """The tree of places; of a JSON file it is made when first asked for."""
        if self._root is None:
            self._root = self._spots()
        return self._root

    def place(self, path: Path = ()) -> Place:
        """Place of a value; of a missing one, the place of its nearest existing parent."""
        return self._walk(path)[1].place

    def key_place(self, path: Path) -> Place:
        """Place of a member's name; of a list item its own; of a missing one as `place`."""
        key, spot, _ = self._walk(path)
        return key or spot.place

    def known(self, path: Path) -> tuple[str | int, ...]:
        """The longest beginning of `path` that the document holds."""
        return tuple(path[: self._walk(path)[2]])

    def _walk(self, path: Path) -> tuple[Place | None, Spot, int]:
        key: Place | None = None
        spot = self.root
        for depth, step in enumerate(path):
            members = spot.members
            if isinstance(members, dict) and isinstance(step, str) and step in members:
                key, spot = members[step]
            elif isinstance(members, list) and isinstance(step, int) and 0 <= step < len(members):
                key, spot = None, members[step]
            else:
                return None, spot, depth
        return key, spot, len(path)


def dotted(path: Path) -> str:
    """A path as people write it: `restart[0].on`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def lookup(value: object, path: Path) -> object:
    """The plain value at `path`, or None when there is none."""
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return None
    return value
