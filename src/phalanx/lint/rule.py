"""What a rule is: metadata, and a function from one entity and the world to hits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Generic, TypeVar

from phalanx.frozen import frozen

if TYPE_CHECKING:
    from phalanx.lint.entity import Entity, Node
    from phalanx.lint.world import World


class Severity(str, Enum):
    """`error`: it cannot work, or is dangerous. `warning`: a trap. `info`: worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 is the most severe."""
        return _RANK[self]


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@frozen
class Source:
    """A page that says so, and the day it was last checked (`YYYY-MM-DD`, or `undated`)."""

    url: str
    verified: str


@frozen
class Hit:
    """One mistake found: the node, the normalised path below it, and words of its own.

    An empty `message` or `fix` takes the rule's. `severity` may only soften the rule's. `replace`
    is a safe repair: (path below the node, new scalar), applied by `--fix` where the scalar
    is written literally.
    """

    node: Node
    path: str = ""
    message: str = ""
    fix: str = ""
    severity: str = ""
    replace: tuple[str, str | int | bool] | None = None
    also: tuple[tuple[Node, str], ...] = ()
    """Further scalars of the same mistake: (the scalar's node, its new text), repaired with it."""


Found = Iterable[Hit]
E = TypeVar("E", bound="Entity")
Check = Callable[[E, "World"], Found]


@frozen
class Rule(Generic[E]):
    """One rule. `message` is the general form, `why` the mechanism, `fix` what to do.

    `areas` are those of `docs/lint-areas.md`; `guards` names guardrails (`GR5`) and items of the
    security baseline (`SB2`); `facts` names rows of the facts room.
    """

    id: str
    slug: str
    severity: Severity
    areas: tuple[str, ...]
    on: type[E]
    message: str
    why: str
    fix: str
    sources: tuple[Source, ...]
    since: str
    check: Check[E]
    guards: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()


def rule(
    *,
    id: str,
    slug: str,
    severity: str,
    areas: tuple[str, ...],
    on: type[E],
    message: str,
    why: str,
    fix: str,
    sources: tuple[tuple[str, str], ...],
    since: str = "0.1",
    guards: tuple[str, ...] = (),
    facts: tuple[str, ...] = (),
) -> Callable[[Check[E]], Rule[E]]:
    """Turns a check into a `Rule`; the engine calls it once for every entity of kind `on`."""

    def wrap(check: Check[E]) -> Rule[E]:
        return Rule(
            id=id,
            slug=slug,
            severity=Severity(severity),
            areas=areas,
            on=on,
            message=message,
            why=why,
            fix=fix,
            sources=tuple(Source(url, verified) for url, verified in sources),
            since=since,
            check=check,
            guards=guards,
            facts=facts,
        )

    return wrap


@frozen
class Finding:
    """What a person reads: a hit with the words of its rule and its place in a file."""

    rule: str
    slug: str
    severity: Severity
    file: str
    where: str
    line: int
    column: int
    message: str
    why: str = ""
    fix: str = ""
    sources: tuple[Source, ...] = ()
    repair: Repair | None = None
    waived_because: str = ""
    also: tuple[Repair, ...] = ()
    """Repairs of the same mistake at its other places."""

    def json(self) -> dict[str, object]:
        """The object of `phalanx.lint/1`."""
        out: dict[str, object] = {
            "rule": self.rule,
            "slug": self.slug,
            "severity": self.severity.value,
            "file": self.file,
            "where": self.where,
            "line": self.line,
            "column": self.column,
            "message": self.message,
            "why": self.why,
            "fix": self.fix,
            "sources": [{"url": s.url, "verified": s.verified} for s in self.sources],
        }
        if self.waived_because:
            out["waived_because"] = self.waived_because
        return out


@frozen
class Repair:
    """Replace `[start, end)` of a file's text by `text`."""

    file: str
    start: int
    end: int
    text: str
