"""Paths inside a document, and where they stand in the file."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

from phalanx.frozen import frozen
from phalanx.lint.pattern import Pattern

Path = tuple[str | int, ...]
_STEP = Pattern(r"\[(\d+)\]|([^.\[\]]+)")


@frozen
class Place:
    """`where` is in the document's own words; `line` and `column` start at 1 (0: not known)."""

    file: str
    where: str
    line: int = 0
    column: int = 0


@frozen
class Span:
    """The text of one scalar: `start` and `end` are offsets in characters."""

    file: str
    start: int
    end: int
    quote: bool
    """The scalar is written inside quotation marks, which the span includes."""


class Origin(Protocol):
    """Knows where the members of one entity stand in its file."""

    file: str

    def locate(self, path: Path) -> Place:
        """The place of a member by its normalised path; a missing one is where it belongs."""

    def span(self, path: Path) -> Span | None:
        """Where the scalar is written literally; None when it is computed or missing."""


@lru_cache(maxsize=4096)
def parse_path(text: str) -> Path:
    """`a.b[0].c` → ("a", "b", 0, "c")."""
    return tuple(int(n) if n else name for n, name in _STEP.findall(text))


def spell(path: Path) -> str:
    """("a", "b", 0, "c") → `a.b[0].c`."""
    out = ""
    for step in path:
        if isinstance(step, int):
            out += f"[{step}]"
        else:
            out += f".{step}" if out else step
    return out


def line_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column, from 1, of an offset in characters."""
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - start + 1
