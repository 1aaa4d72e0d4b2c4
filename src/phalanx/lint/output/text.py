"""Findings for people: place, message, the source lines, what to do."""

from __future__ import annotations

from collections.abc import Iterator

from phalanx.lint.engine import Report
from phalanx.lint.rule import Finding, Severity

_COLOUR = {Severity.ERROR: "31;1", Severity.WARNING: "33;1", Severity.INFO: "36;1"}
_WIDTH_MAX = 110


def to_text(report: Report, *, colour: bool = False, explain: bool = True) -> str:
    """The whole answer; `colour` for a terminal, `explain` adds why, fix and source."""
    lines: list[str] = []
    for finding in report.findings:
        lines += _one(finding, report.texts.get(finding.file, ""), colour, explain)
        lines.append("")
    lines.append(summary(report))
    return "\n".join(lines)


def summary(report: Report) -> str:
    """`3 errors, 1 warning in 12 files (2 waived)`."""
    counts = [(report.count(s), s.value) for s in Severity]
    parts = [f"{n} {word}{'' if n == 1 else 's'}" for n, word in counts if n]
    files = f"{report.files} file{'' if report.files == 1 else 's'}"
    text = f"{', '.join(parts) or 'nothing found'} in {files}"
    return f"{text} ({len(report.waived)} waived)" if report.waived else text


def _one(finding: Finding, text: str, colour: bool, explain: bool) -> Iterator[str]:
    place = finding.file
    if finding.line:
        place += f":{finding.line}:{finding.column}"
    word = _paint(finding.severity.value, _COLOUR[finding.severity], colour)
    yield f"{place}: {word} {finding.rule} {finding.slug}"
    yield f"  {_paint(finding.message, '1', colour)}"
    yield f"  at {finding.where}"
    yield from _excerpt(finding, text, colour)
    if explain:
        for name, words in (("why", finding.why), ("fix", finding.fix)):
            if words:
                yield from _wrapped(f"  {name}: ", words)
        for source in finding.sources[:1]:
            yield f"  see: {source.url} ({source.verified})"


def _excerpt(finding: Finding, text: str, colour: bool) -> Iterator[str]:
    lines = text.split("\n")
    if not 0 < finding.line <= len(lines):
        return
    line = lines[finding.line - 1].rstrip("\r").replace("\t", " ")
    cut = max(0, finding.column - 60)
    number = str(finding.line)
    if "secret" in finding.slug:
        line = _masked(line)
    yield f"  {_paint(f'{number} |', '2', colour)} {line[cut : cut + _WIDTH_MAX]}"
    mark = " " * (finding.column - 1 - cut) + "^"
    yield f"  {' ' * len(number)} {_paint('|', '2', colour)} {_paint(mark, '31', colour)}"


def _masked(line: str) -> str:
    """A line that may hold a secret, with its value hidden."""
    for sign in ("value", "Value"):
        head, found, _ = line.partition(sign)
        if found:
            return f"{head}{found} ..."
    head, found, _ = line.partition(":" if ":" in line else "=")
    return f"{head}{found} ..." if found and head.strip() else line


def _wrapped(head: str, words: str) -> Iterator[str]:
    line = head
    for word in words.split():
        if len(line) + len(word) > 98 and line.strip():
            yield line.rstrip()
            line = " " * len(head)
        line += word + " "
    yield line.rstrip()


def _paint(text: str, code: str, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text
