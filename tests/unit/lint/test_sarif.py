"""SARIF output against the published 2.1.0 schema (`tests/golden/sarif`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from phalanx.lint.collect import collect
from phalanx.lint.discover import all_rules
from phalanx.lint.engine import Report, lint
from phalanx.lint.output.sarif import to_sarif
from tests.support.linting import environment, report, task

TESTS = Path(__file__).parent.parent.parent
SCHEMA = json.loads((TESTS / "golden" / "sarif" / "sarif-2.1.0.json").read_text())
VALIDATOR = Draft7Validator(SCHEMA)


def problems(log: object) -> list[str]:
    """What the schema has against it; empty when nothing."""
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(log)]


def checked(made: Report) -> dict[str, Any]:
    """The output as it is written, after every check."""
    log: dict[str, Any] = json.loads(json.dumps(to_sarif(made, all_rules(), "1.2.3")))
    assert problems(log) == []
    for run in log["runs"]:
        ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        assert len(ids) == len(set(ids))
        for result in run["results"]:
            assert ids[result["ruleIndex"]] == result["ruleId"]
            for location in result["locations"]:
                region = location["physicalLocation"].get("region", {"startLine": 1})
                assert min(region.values()) >= 1
                assert "\\" not in location["physicalLocation"]["artifactLocation"]["uri"]
    return log


def test_every_finding_of_the_cases_and_the_clean_files() -> None:
    made = lint(collect([str(TESTS / "cases" / "lint"), str(TESTS / "clean")]))
    (run,) = checked(made)["runs"]
    assert len(run["results"]) == len(made.findings) > 0


def test_waived_findings_are_suppressed() -> None:
    compose = "# phalanx: ignore NCC001 measured\nservices:\n  a:\n    gpus: all\n"
    compose += "    environment: {NCCL_PROTO: simple}\n"
    (run,) = checked(report(("compose.yaml", compose)))["runs"]
    waived = [r for r in run["results"] if "suppressions" in r]
    assert [r["ruleId"] for r in waived] == ["NCC001"]


def test_no_findings() -> None:
    cpu = task({"resourceRequirements": [], **environment(A="b")})
    (run,) = checked(report(("t.json", cpu)))["runs"]
    assert run["results"] == []


@pytest.mark.parametrize(
    "change",
    [
        {"version": "2.0.0"},
        {"runs": {}},
        {"extra": 1},
        {"runs": [{"results": []}]},
        {"runs": [{"tool": {"driver": {"name": "a"}}, "results": [{"level": "info"}]}]},
    ],
)
def test_the_check_itself_sees_what_is_wrong(change: dict[str, Any]) -> None:
    good = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "a"}}}]}
    assert problems(good) == []
    assert problems({**good, **change})


def test_the_schema_is_the_published_one() -> None:
    Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"].endswith("oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json")
