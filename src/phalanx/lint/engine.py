"""Runs every rule over every entity, and turns hits into findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from phalanx.frozen import frozen, replace
from phalanx.lint import waive
from phalanx.lint.discover import rules_on
from phalanx.lint.entity import Entity, Node
from phalanx.lint.readers.detect import Skipped, read_world
from phalanx.lint.readers.origin import written
from phalanx.lint.rule import Finding, Hit, Repair, Rule, Severity
from phalanx.lint.signs import is_instance
from phalanx.lint.source import SourceFile
from phalanx.lint.values import readable
from phalanx.lint.world import World


@frozen
class Report:
    """What one call of lint found. `texts` holds what was read, for excerpts."""

    findings: tuple[Finding, ...]
    waived: tuple[Finding, ...] = ()
    files: int = 0
    skipped: tuple[Skipped, ...] = ()
    texts: Mapping[str, str] = MappingProxyType({})

    def count(self, severity: Severity) -> int:
        """How many findings have this severity."""
        return sum(f.severity is severity for f in self.findings)

    def fails(self, threshold: Severity) -> bool:
        """Something is at or above the threshold."""
        return any(f.severity.rank <= threshold.rank for f in self.findings)


def lint(
    files: Sequence[SourceFile],
    *,
    waivers: Sequence[waive.Waiver] = (),
    config: str = "phalanx.toml",
    rules: Sequence[Rule[Any]] | None = None,
) -> Report:
    """Findings of all files as one world, sorted by file and line.

    Raises `InputError` for a file named by the user that cannot be read as any kind, or that is
    evidence, which `explain` reads.
    """
    entities, skipped, texts = read_world(files)
    world = World(entities)
    found = check(world, rules_on(world.kinds) if rules is None else rules)
    noted = [w for name, text in texts.items() for w in waive.in_text(name, text)]
    stay, waived = waive.apply(found, [*waivers, *noted], texts, config)
    return Report(
        findings=tuple(sorted(stay, key=_order)),
        waived=tuple(sorted(waived, key=_order)),
        files=len(texts),
        skipped=tuple(skipped),
        texts=texts,
    )


def check(world: World, rules: Iterable[Rule[Any]]) -> list[Finding]:
    """What the rules find; one finding for one rule at one place.

    Instances of one block (`for_each`, `count`) stand at one place: what is found in each of them
    is told in one message.
    """
    found: dict[_Key, list[Finding]] = {}
    for rule in rules:
        for entity in world.all(rule.on):
            for finding in _run(rule, entity, world):
                key = (finding.rule, finding.file, finding.where, finding.line)
                held = found.setdefault(key, [])
                if not held or is_instance(entity):
                    held.append(finding)
    return [_joined(held) for held in found.values()]


_Key = tuple[str, str, str, int]
_SHOWN = 3


def _joined(held: list[Finding]) -> Finding:
    """The first of the most severe, with the messages that differ."""
    worst = min(held, key=lambda finding: finding.severity.rank)
    messages = list(dict.fromkeys([worst.message, *(finding.message for finding in held)]))
    if len(messages) == 1:
        return worst
    more = f" (and {len(messages) - _SHOWN} more)" if len(messages) > _SHOWN else ""
    return replace(worst, message="; ".join(messages[:_SHOWN]) + more)


def _run(rule: Rule[Any], entity: Entity, world: World) -> Iterator[Finding]:
    try:
        for hit in rule.check(entity, world):
            yield _finding(rule, hit)
    except Exception as error:  # a rule that crashes must not hide the findings of the others
        yield _crashed(rule, entity, error)


def _finding(rule: Rule[Any], hit: Hit) -> Finding:
    place = hit.node.place(hit.path)
    severity = Severity(hit.severity) if hit.severity else rule.severity
    return Finding(
        rule=rule.id,
        slug=rule.slug,
        severity=max(severity, rule.severity, key=lambda s: s.rank),
        file=place.file,
        where=place.where,
        line=place.line,
        column=place.column,
        message=readable(hit.message or rule.message),
        why=rule.why,
        fix=readable(hit.fix or rule.fix),
        sources=rule.sources,
        repair=_repair(hit.node, hit.replace),
        also=tuple(r for node, text in hit.also if (r := _repair(node, ("", text)))),
    )


def _repair(node: Node, replace: tuple[str, str | int | bool] | None) -> Repair | None:
    if replace is None:
        return None
    path, value = replace
    span = node.span(path)
    if span is None:
        return None
    return Repair(span.file, span.start, span.end, written(value, span.quote))


def _crashed(rule: Rule[Any], entity: Entity, error: Exception) -> Finding:
    place = entity.place()
    return Finding(
        rule="PHX001",
        slug="rule-crashed",
        severity=Severity.WARNING,
        file=place.file,
        where=place.where,
        line=place.line,
        column=place.column,
        message=f"Rule {rule.id} failed here: {type(error).__name__}: {error}",
        why="This is a defect of phalanx; the other rules were run.",
        fix=f"Report it with the file; until then waive {rule.id} here.",
    )


def _order(finding: Finding) -> tuple[str, int, int, int, str, str]:
    rank = finding.severity.rank
    return finding.file, finding.line, finding.column, rank, finding.rule, finding.where
