"""SARIF output against the members of the 2.1.0 schema that it uses.

`_OBJECTS` is what the schema says of those objects, written down by hand: every member we write,
its type, and which are required. The schema allows no other members in these objects.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from phalanx.lint.collect import collect
from phalanx.lint.discover import all_rules
from phalanx.lint.engine import Report, lint
from phalanx.lint.output.sarif import to_sarif
from tests.support.linting import environment, report, task

LEVELS = ("none", "note", "warning", "error")
_OBJECTS: dict[str, dict[str, Any]] = {
    "log": {"$schema!": str, "version!": ("2.1.0",), "runs!": ["run"]},
    "run": {
        "tool!": "tool",
        "columnKind": ("utf16CodeUnits", "unicodeCodePoints"),
        "results": ["result"],
    },
    "tool": {"driver!": "component"},
    "component": {
        "name!": str,
        "semanticVersion": str,
        "rules": ["descriptor"],
    },
    "descriptor": {
        "id!": str,
        "name": str,
        "shortDescription": "text",
        "help": "text",
        "helpUri": str,
        "defaultConfiguration": "configuration",
        "properties": "bag",
    },
    "configuration": {"level": LEVELS},
    "bag": {"tags": [str]},
    "text": {"text!": str},
    "result": {
        "ruleId": str,
        "ruleIndex": int,
        "level": LEVELS,
        "message!": "text",
        "locations": ["location"],
        "suppressions": ["suppression"],
    },
    "location": {"physicalLocation": "physical", "logicalLocations": ["logical"]},
    "physical": {"artifactLocation": "artifact", "region": "region"},
    "artifact": {"uri": str},
    "region": {"startLine": int, "startColumn": int},
    "logical": {"fullyQualifiedName": str},
    "suppression": {"kind!": ("inSource", "external"), "justification": str},
}


def problems(value: Any, kind: Any, at: str = "") -> list[str]:
    """What does not fit; empty when everything does."""
    if isinstance(kind, list):
        if not isinstance(value, list):
            return [f"{at} is no list"]
        return [p for n, item in enumerate(value) for p in problems(item, kind[0], f"{at}[{n}]")]
    if isinstance(kind, tuple):
        return [] if value in kind else [f"{at} is {value!r}"]
    if not isinstance(kind, str):
        fits = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
        return [] if fits and (kind is not int or value >= 0) else [f"{at} is {value!r}"]
    if not isinstance(value, dict):
        return [f"{at} is no object"]
    members = {key.rstrip("!"): member for key, member in _OBJECTS[kind].items()}
    missing = [k[:-1] for k in _OBJECTS[kind] if k.endswith("!") and k[:-1] not in value]
    found = [f"{at} lacks {key}" for key in missing]
    for key, item in value.items():
        if key not in members:
            found.append(f"{at}.{key} is not in the schema")
        else:
            found += problems(item, members[key], f"{at}.{key}")
    return found


def checked(made: Report) -> dict[str, Any]:
    """The output as it is written, after every check."""
    log: dict[str, Any] = json.loads(json.dumps(to_sarif(made, all_rules(), "1.2.3")))
    assert problems(log, "log") == []
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
    tests = Path(__file__).parent.parent.parent
    made = lint(collect([str(tests / "cases" / "lint"), str(tests / "clean")]))
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
    good = {"$schema": "s", "version": "2.1.0", "runs": [{"tool": {"driver": {"name": "a"}}}]}
    assert problems(good, "log") == []
    assert problems({**good, **change}, "log")
