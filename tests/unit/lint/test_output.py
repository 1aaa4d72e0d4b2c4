"""Text, JSON, SARIF and annotations."""

from __future__ import annotations

import json

from phalanx.lint.discover import all_rules
from phalanx.lint.output.github import to_github
from phalanx.lint.output.json_text import to_json
from phalanx.lint.output.sarif import to_sarif
from phalanx.lint.output.text import to_text
from tests.support.linting import environment, report, task

SECRET = "hf_abcdefghijklmnopqrstuv"


def test_json_is_the_contract() -> None:
    made = to_json(report(("t.json", task(environment(NCCL_PROTO="simple")))))
    assert next(iter(made)) == "schema"
    assert made["schema"] == "phalanx.lint/1"
    findings = made["findings"]
    assert isinstance(findings, list)
    assert set(findings[0]) == {
        *("rule", "slug", "severity", "file", "where", "line", "column"),
        *("message", "why", "fix", "sources"),
    }
    assert json.loads(json.dumps(made)) == made
    counts = made["summary"]
    assert counts == {"files": 1, "errors": 0, "warnings": 1, "infos": 0, "waived": 0}


def test_text_shows_the_line_and_never_a_secret() -> None:
    text = json.dumps(json.loads(task(environment(HF_TOKEN=SECRET))), indent=1)
    for shown in (text, text.replace("\n", " ")):
        got = to_text(report(("t.json", shown)))
        assert "t.json:" in got
        assert "secret-in-env" in got
        assert SECRET not in got
    assert "\x1b" not in to_text(report(("t.json", text)))
    assert "\x1b[" in to_text(report(("t.json", text)), colour=True)
    compose = (
        "services:\n  a:\n    gpus: all\n    environment:\n"
        f"      HF_TOKEN: {SECRET}\n      B: [1, 2]\n"
    )
    got = to_text(report(("compose.yaml", compose)))
    assert "secret-in-env" in got
    assert SECRET not in got


def test_an_annotation_is_one_line() -> None:
    lines = to_github(report(("a,b.json", task(environment(NCCL_PROTO="simple"))))).splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("::warning file=a%2Cb.json,line=1,col=")
    assert "%0A" in lines[0]


def test_sarif_names_every_rule_that_found_something() -> None:
    text = (
        "# phalanx: ignore NCC001 old\nservices:\n  a:\n    gpus: all\n"
        "    environment: {NCCL_PROTO: simple}\n"
    )
    got = report(("compose.yaml", text), ("t.json", task(environment(HF_TOKEN=SECRET))))
    made = to_sarif(got, all_rules(), "1.2.3")
    assert made["version"] == "2.1.0"
    (run,) = made["runs"]  # type: ignore[misc]
    rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
    assert rules == ["NCC001", "SEC001"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] > 0
    assert SECRET not in json.dumps(made)
