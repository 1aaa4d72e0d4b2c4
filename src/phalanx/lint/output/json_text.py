"""The `phalanx.lint/1` object."""

from __future__ import annotations

from phalanx.lint.engine import Report
from phalanx.lint.rule import Severity


def to_json(report: Report) -> dict[str, object]:
    """Findings and their counts, schema first."""
    return {
        "schema": "phalanx.lint/1",
        "findings": [finding.json() for finding in report.findings],
        "summary": {
            "files": report.files,
            "errors": report.count(Severity.ERROR),
            "warnings": report.count(Severity.WARNING),
            "infos": report.count(Severity.INFO),
            "waived": len(report.waived),
        },
    }
