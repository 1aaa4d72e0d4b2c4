"""Safe repairs: what `--fix` would write, and the difference that it shows first."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from phalanx.lint.engine import Report
from phalanx.lint.rule import Repair


def repaired(report: Report) -> dict[str, str]:
    """New text of every file that a repair changes; overlapping repairs wait for the next run."""
    by_file: dict[str, list[Repair]] = {}
    for finding in report.findings:
        for repair in (finding.repair, *finding.also):
            if repair is not None and repair.file in report.texts:
                by_file.setdefault(repair.file, []).append(repair)
    out: dict[str, str] = {}
    for file, repairs in by_file.items():
        text = apply(report.texts[file], repairs)
        if text != report.texts[file]:
            out[file] = text
    return out


def apply(text: str, repairs: Iterable[Repair]) -> str:
    """The text with its repairs, later ones first so that offsets hold."""
    end = len(text) + 1
    for repair in sorted(set(repairs), key=lambda r: (r.start, r.end), reverse=True):
        if repair.end <= end:
            text = text[: repair.start] + repair.text + text[repair.end :]
            end = repair.start
    return text


def difference(report: Report, changed: dict[str, str]) -> str:
    """A unified diff of all changed files."""
    lines: list[str] = []
    for file, text in sorted(changed.items()):
        before = report.texts[file].splitlines(keepends=True)
        after = text.splitlines(keepends=True)
        lines += difflib.unified_diff(before, after, f"a/{file}", f"b/{file}")
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
