"""Waivers: comments in files and `[[waive]]` in `phalanx.toml`, each with a reason.

`# phalanx: ignore EFA001 the fabric is tested by hand` stands on the line of the finding, or above
it; above a block it covers the block. A waiver without a reason waives nothing and is a finding.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fnmatch import fnmatch

from phalanx.errors import InputError
from phalanx.frozen import frozen, replace
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Finding, Severity

_COMMENT = Pattern(r"(?:#|//|/\*)\s*phalanx:\s*ignore\b[ \t]*([^\n]*)")
_RULES = Pattern(r"\s*([A-Za-z][A-Za-z0-9-]*(?:\s*,\s*[A-Za-z][A-Za-z0-9-]*)*)\s*[:—-]?\s*(.*)")
_BLANK = Pattern(r"\s*(?:#|//|/\*|$)")


@frozen
class Waiver:
    """Findings of `rule` (id or slug) in files like `path`, on lines `first` to `last`."""

    rule: str
    path: str
    reason: str
    first: int = 0
    last: int = 0
    line: int = 0
    file: str = ""
    number: int = 0
    """Which of the configuration's tables it is, from 0."""

    @property
    def where(self) -> str:
        """Its place: a line, or a table of the configuration."""
        return f"line {self.line}" if self.line else f"waive[{self.number}]"

    def covers(self, finding: Finding) -> bool:
        """It is about this finding."""
        if self.rule.lower() not in (finding.rule.lower(), finding.slug):
            return False
        if self.file:
            return finding.file == self.file and self.first <= finding.line <= self.last
        return self.is_about(finding.file)

    def is_about(self, file: str) -> bool:
        """Its path matches this file."""
        return fnmatch(file, self.path) or fnmatch(file, f"*/{self.path}")


def in_text(file: str, text: str) -> list[Waiver]:
    """The waivers in a file's comments."""
    if "phalanx:" not in text or file.endswith(".json"):
        return []
    lines = text.splitlines()
    out: list[Waiver] = []
    for number, line in enumerate(lines, 1):
        match = _COMMENT.search(line)
        if not match:
            continue
        words = _RULES.fullmatch(match[1].removesuffix("*/").strip())
        rules, reason = (words[1], words[2].strip()) if words else ("", "")
        first, last = _reach(lines, number, alone=not line[: match.start()].strip())
        for name in rules.split(",") or [""]:
            out.append(Waiver(name.strip(), file, reason, first, last, number, file))
    return out


def from_config(config: object, file: str) -> list[Waiver]:
    """The `[[waive]]` tables of a parsed `phalanx.toml`. Raises `InputError`."""
    tables = config.get("waive", []) if isinstance(config, dict) else []
    if not isinstance(tables, list):
        raise InputError(f"{file}: waive must be a list of tables", hint="write [[waive]]")
    out: list[Waiver] = []
    for number, table in enumerate(tables, 1):
        if not isinstance(table, dict):
            raise InputError(f"{file}: waive {number} is no table", hint="write [[waive]]")
        unknown = set(table) - {"rule", "path", "reason"}
        if unknown or not isinstance(table.get("rule"), str):
            said = f"has {sorted(unknown)}" if unknown else "names no rule"
            raise InputError(f"{file}: waive {number} {said}", hint="use rule, path, reason")
        reason = str(table.get("reason", "")).strip()
        out.append(Waiver(table["rule"], str(table.get("path", "*")), reason, number=number - 1))
    return out


def apply(
    findings: Iterable[Finding], waivers: list[Waiver], files: Collection[str], config: str
) -> tuple[list[Finding], list[Finding]]:
    """(findings that stay, with those about the waivers themselves; findings that are waived)."""
    stay: list[Finding] = []
    waived: list[Finding] = []
    good = [w for w in waivers if w.reason and w.rule]
    used: set[int] = set()
    for finding in findings:
        match = next((n for n, w in enumerate(good) if w.covers(finding)), None)
        if match is None:
            stay.append(finding)
        else:
            used.add(match)
            waived.append(replace(finding, waived_because=good[match].reason))
    stay += [_no_reason(w, config) for w in waivers if not w.reason or not w.rule]
    idle = [w for n, w in enumerate(good) if n not in used]
    stay += [_unused(w, config) for w in idle if w.file or any(map(w.is_about, files))]
    return stay, waived


def _no_reason(waiver: Waiver, config: str) -> Finding:
    return Finding(
        rule="PHX002",
        slug="waiver-without-reason",
        severity=Severity.ERROR,
        file=waiver.file or config,
        where=waiver.where,
        line=waiver.line,
        column=1 if waiver.line else 0,
        message=f"The waiver of {waiver.rule or 'no rule'} gives no reason, so it waives nothing",
        why="Whoever reads the waiver later must know whether it still holds.",
        fix="Write the rule and the reason: phalanx: ignore EFA001 single node, no fabric used",
    )


def _unused(waiver: Waiver, config: str) -> Finding:
    return Finding(
        rule="PHX003",
        slug="waiver-unused",
        severity=Severity.INFO,
        file=waiver.file or config,
        where=waiver.where,
        line=waiver.line,
        column=1 if waiver.line else 0,
        message=f"The waiver of {waiver.rule} covers no finding",
        why="A waiver that outlives its finding hides the next one.",
        fix="Remove it, or name the rule that it means.",
    )


def _reach(lines: list[str], number: int, *, alone: bool) -> tuple[int, int]:
    first = number
    if alone:
        first += 1
        while first <= len(lines) and _BLANK.match(lines[first - 1]):
            first += 1
    if first > len(lines):
        return number, number
    indent = _indent(lines[first - 1])
    last = first
    while last < len(lines) and (not lines[last].strip() or _indent(lines[last]) > indent):
        last += 1
    return (number if alone else first), last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
