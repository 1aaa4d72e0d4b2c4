"""Places of members in YAML and JSON documents, found when a finding needs them."""

from __future__ import annotations

import json
from collections.abc import Callable

from phalanx.lint.pattern import Pattern
from phalanx.lint.place import Path, Place, Span, spell
from phalanx.spec.places import Document

Step = Callable[[object], "tuple[object, Path] | None"]
"""Enters an intrinsic function: (raw value) → (raw value inside, its steps), or None."""
Rename = Callable[[str], str]


def _same(name: str) -> str:
    return name


def upper_first(name: str) -> str:
    """`containerDefinitions` → `ContainerDefinitions`."""
    return name[:1].upper() + name[1:]


class DocumentOrigin:
    """Finds normalised paths in a document, letter case and intrinsic functions aside.

    `base` is the path below which its members stand, in the document's own words; `itself` is the
    path of the entity as a whole.
    """

    def __init__(
        self,
        document: Document,
        base: Path,
        *,
        rename: Rename = _same,
        enter: Step | None = None,
        itself: Path | None = None,
    ) -> None:
        self.document = document
        self.file = document.file
        self.root = base
        self.itself = base if itself is None else itself
        self.rename = rename
        self.enter = enter

    def locate(self, path: Path) -> Place:
        """The place of a member; a missing one is where it belongs."""
        words, steps = self._find(path)
        line, column = self.document.key_place(steps)
        return Place(self.file, spell(words), line, column)

    def span(self, path: Path) -> Span | None:
        """Where a scalar is written."""
        words, steps = self._find(path)
        if self.document.known(steps) != steps or len(words) != len(steps):
            return None
        line, column = self.document.place(steps)
        start = _offset(self.document.text, line, column)
        match = _SCALAR.match(self.document.text, start)
        if not match:
            return None
        return Span(self.file, start, match.end(), match[0][0] in "\"'")

    def _find(self, path: Path) -> tuple[Path, Path]:
        """(the words that a person reads, the steps that the document knows)."""
        if not path:
            return self.itself, self.itself
        value, steps = _descend(self.document.value, self.root)
        words: Path = self.root
        lost = steps != self.root
        for step in path:
            if self.enter and not lost:
                value, steps = self._through(value, steps)
            key = self._key(value, step)
            if key is None:
                words = (*words, self.rename(step) if isinstance(step, str) else step)
                lost = True
            else:
                words = (*words, key)
            if not lost and key is not None:
                value = value[key]  # type: ignore[index]
                steps = (*steps, key)
        return words, steps

    def _through(self, value: object, steps: Path) -> tuple[object, Path]:
        inside = self.enter(value) if self.enter else None
        while inside is not None and self.enter is not None:
            value, steps = inside[0], (*steps, *inside[1])
            inside = self.enter(value)
        return value, steps

    def _key(self, value: object, step: str | int) -> str | int | None:
        if isinstance(value, list):
            return step if isinstance(step, int) and step < len(value) else None
        if not isinstance(value, dict) or not isinstance(step, str):
            return None
        for name in (step, self.rename(step)):
            if name in value:
                return name
        folded = step.lower()
        return next((k for k in value if isinstance(k, str) and k.lower() == folded), None)


_SCALAR = Pattern(
    r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\n]|\'\')*\'|[^\s,\[\]{}#][^\n,\[\]{}#]*?(?=\s*(?:[\n,\]}#]|$))'
)


def _descend(value: object, path: Path) -> tuple[object, Path]:
    steps: Path = ()
    for step in path:
        if (isinstance(value, dict) and step in value) or (
            isinstance(value, list) and isinstance(step, int) and step < len(value)
        ):
            value = value[step]  # type: ignore[index]
            steps = (*steps, step)
        else:
            break
    return value, steps


def _offset(text: str, line: int, column: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    return start + column - 1


def written(value: str | int | bool, quote: bool) -> str:
    """A scalar as it is written in JSON, YAML and HCL."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return json.dumps(text) if quote or (isinstance(value, str) and not text.isalnum()) else text
