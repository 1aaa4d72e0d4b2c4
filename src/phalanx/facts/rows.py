"""Limits, rates, vocabularies and time rules of AWS, each with its page and the day it was read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from phalanx.frozen import frozen


@frozen
class FactSource:
    """A page and the day it was last checked (`undated` where the source says none)."""

    url: str
    verified: str


@frozen
class FactRow:
    """One fact. `fact` are ids of the digest it was taken from.

    `mark` is empty, `conflict` (two sources differ, see `note`) or `unverified`.
    """

    id: str
    fact: tuple[str, ...]
    value: Any
    says: str
    sources: tuple[FactSource, ...]
    mark: str = ""
    note: str = ""

    @property
    def is_settled(self) -> bool:
        """Nothing is in doubt: a hard error may rest on it."""
        return not self.mark


@lru_cache(maxsize=1)
def rows() -> dict[str, FactRow]:
    """Every fact by id."""
    out: dict[str, FactRow] = {}
    for raw in _raw():
        sources = tuple(FactSource(s["url"], s["verified"]) for s in raw["sources"])
        out[raw["id"]] = FactRow(
            id=raw["id"],
            fact=tuple(raw["fact"]),
            value=raw["value"],
            says=raw["says"],
            sources=sources,
            mark=raw.get("mark", ""),
            note=raw.get("note", ""),
        )
    return out


def _raw() -> Iterator[Any]:
    for name in ("rows.json", "rows-plan.json"):
        text = (Path(__file__).parent / "data" / name).read_text("utf-8")
        yield from json.loads(text)["rows"]


def settled(id: str) -> Any:
    """The value of a fact that nothing puts in doubt. Raises `KeyError` for any other."""
    row = rows()[id]
    if not row.is_settled:
        raise KeyError(f"{id} is marked {row.mark}")
    return row.value
