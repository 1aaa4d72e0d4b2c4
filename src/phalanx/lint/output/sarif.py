"""SARIF 2.1.0, for code-scanning services."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from phalanx.lint.engine import Report
from phalanx.lint.rule import Finding, Rule, Severity

_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def to_sarif(report: Report, rules: tuple[Rule[Any], ...], version: str) -> dict[str, object]:
    """One run with the rules that found something and every finding, waived ones suppressed."""
    found = [*report.findings, *report.waived]
    used = sorted({f.rule for f in found})
    known = {rule.id: rule for rule in rules}
    index = {id: n for n, id in enumerate(used)}
    first = {f.rule: f for f in reversed(found)}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "phalanx",
                        "semanticVersion": version,
                        "rules": [_rule(known.get(id), first[id]) for id in used],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, index[finding.rule]) for finding in found],
            }
        ],
    }


def _rule(rule: Rule[Any] | None, finding: Finding) -> dict[str, object]:
    help_text = f"{finding.why}\n\n{finding.fix}".strip() or finding.message
    out: dict[str, object] = {
        "id": finding.rule,
        "name": finding.slug,
        "shortDescription": {"text": rule.message if rule else finding.message},
        "help": {"text": help_text},
        "defaultConfiguration": {"level": _LEVEL[rule.severity if rule else finding.severity]},
    }
    if rule and rule.sources:
        out["helpUri"] = rule.sources[0].url
    if rule:
        out["properties"] = {"tags": [*rule.areas, *rule.guards]}
    return out


def _result(finding: Finding, index: int) -> dict[str, object]:
    location: dict[str, object] = {
        "artifactLocation": {"uri": PurePath(finding.file).as_posix()},
    }
    if finding.line:
        location["region"] = {"startLine": finding.line, "startColumn": max(1, finding.column)}
    out: dict[str, object] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVEL[finding.severity],
        "message": {"text": f"{finding.message}. {finding.fix}".strip()},
        "locations": [
            {
                "physicalLocation": location,
                "logicalLocations": [{"fullyQualifiedName": finding.where}],
            }
        ],
    }
    if finding.waived_because:
        out["suppressions"] = [{"kind": "inSource", "justification": finding.waived_because}]
    return out
