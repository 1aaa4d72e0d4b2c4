"""Workflow commands that GitHub Actions shows as annotations."""

from __future__ import annotations

from phalanx.lint.engine import Report
from phalanx.lint.rule import Severity

_WORD = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def to_github(report: Report) -> str:
    """One line for every finding."""
    lines = []
    for finding in report.findings:
        parts = [f"file={_property(finding.file)}"]
        if finding.line:
            parts += [f"line={finding.line}", f"col={finding.column}"]
        parts.append(f"title={_property(f'{finding.rule} {finding.slug}')}")
        text = _data(f"{finding.message} (at {finding.where})\n{finding.fix}".strip())
        lines.append(f"::{_WORD[finding.severity]} {','.join(parts)}::{text}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
