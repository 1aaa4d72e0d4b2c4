"""What a decision is: a choice, why, why nothing else, on which pages it rests."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx.facts.instances import InstanceType, source_of
from phalanx.facts.rows import rows


@dataclass(frozen=True)
class Source:
    """A page, the day it was last checked, and the fact taken from it (`phalanx facts show`)."""

    url: str
    verified: str
    fact: str
    mark: str = ""
    """`conflict` or `unverified` where the fact is in doubt."""


@dataclass(frozen=True)
class Rejected:
    """A choice that was not taken."""

    choice: str
    because: str


@dataclass(frozen=True)
class Decision:
    """One decision. `id` is D1 to D5."""

    id: str
    question: str
    choice: str
    reasons: tuple[str, ...]
    rejected: tuple[Rejected, ...]
    sources: tuple[Source, ...]
    would_change_if: tuple[str, ...]


def cite(*ids: str) -> tuple[Source, ...]:
    """Sources of facts, each page once. Raises `KeyError` for a fact that is not known."""
    found: dict[str, Source] = {}
    for id in ids:
        row = rows()[id]
        for page in row.sources:
            found.setdefault(page.url, Source(page.url, page.verified, id, row.mark))
    return tuple(found.values())


def cite_type(row: InstanceType) -> Source:
    """Where the figures of an instance type come from."""
    _, url, verified = source_of(row.name)
    return Source(url, verified, row.name)
