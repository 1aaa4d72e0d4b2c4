"""Every case of evidence: the right answer, and none of the wrong ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phalanx.explain.explain import explain
from phalanx.explain.reading import Input

FOLDER = Path(__file__).parent / "explain"
CASES = {c["id"]: c for c in json.loads((FOLDER / "index.json").read_text())["cases"]}


def answer_of(case: dict[str, Any]) -> dict[str, Any]:
    inputs = [Input(name, (FOLDER / name).read_bytes()) for name in case["files"]]
    return explain(inputs).plain()


def words_of(answer: dict[str, Any]) -> str:
    """Messages and fixes: what a person is told to do."""
    texts = [f["message"] + " " + f["fix"] for f in answer["findings"]]
    decisions = [answer.get("decision"), *answer.get("decisions", [])]
    return " ".join([*texts, *(d["reason"] for d in decisions if d)])


def by_slug(answer: dict[str, Any], slug: str) -> list[dict[str, Any]]:
    return [f for f in answer["findings"] if f["slug"] == slug]


def task(answer: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(t for t in answer["tasks"] if t["task"] == name)
    return found


def meets_verdict(answer: dict[str, Any], where: str) -> bool:
    name, _, says = where.partition(": ")
    right = {
        "fail, fix memory": ("OutOfMemory", "fail"),
        "user stop, no relaunch; warn SIGTERM not handled": ("StoppedByUser", "none"),
        "relaunch from checkpoint": ("SpotInterruption", "relaunch"),
    }[says]
    entry = task(answer, name)
    warned = any(
        f["severity"] == "warning" and "SIGTERM" in f["message"] for f in answer["findings"]
    )
    return (entry["class"], entry["action"]) == right and ("SIGTERM" not in says or warned)


def meets(answer: dict[str, Any], expected: dict[str, str]) -> bool:
    slug, level, where = expected["slug"], expected["level"], expected["where"]
    if slug == "relaunch-count":
        return bool(answer["decision"]["relaunch"] == int(where))
    if slug == "job-next":
        decision = answer["decision"]
        return where == f"{decision['next']} attempt {decision['next_attempt']}"
    if slug == "resume-from":
        decision = answer.get("decision", {"resume_from": where})
        return bool(answer["resume"]["from"] == where == decision["resume_from"])
    if slug == "verdict":
        return meets_verdict(answer, where)
    return any(
        (f["slug"], f["severity"], f["where"]) == (slug, level, where) for f in answer["findings"]
    )


EXPECTED = [(c["id"], e) for c in CASES.values() for e in c["expect"]]


@pytest.mark.parametrize(
    ("case", "expected"), EXPECTED, ids=[f"{i}-{e['slug']}" for i, e in EXPECTED]
)
def test_expected(case: str, expected: dict[str, str]) -> None:
    assert meets(answer_of(CASES[case]), expected)


@pytest.mark.parametrize("case", CASES)
def test_findings_say_all_that_the_contract_asks(case: str) -> None:
    for finding in answer_of(CASES[case])["findings"]:
        assert finding["line"] > 0
        assert finding["column"] > 0
        assert finding["message"]
        assert finding["sources"]
        assert finding["severity"] in ("error", "warning", "info")


@pytest.mark.parametrize("case", [c["id"] for c in CASES.values() if c["clean"]])
def test_clean_cases_stay_clean(case: str) -> None:
    levels = {f["severity"] for f in answer_of(CASES[case])["findings"]}
    assert levels <= {"info"}


def says(pattern: str) -> Callable[[dict[str, Any]], bool]:
    return lambda answer: bool(re.search(pattern, words_of(answer), re.IGNORECASE))


def has_class(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda answer: any(t["class"] == name for t in answer["tasks"])


MUST_NOT: dict[tuple[str, str], Callable[[dict[str, Any]], bool]] = {
    ("C03", "tell the user to add more instances"): says(
        r"more instances|scale out|add .*instance"
    ),
    ("C03", "blame the task definition"): says(r"task definition"),
    ("C04", "retry"): says(r"\bretry|\btry again"),
    ("C04", "relaunch on the same AMI"): says(r"relaunch|same AMI"),
    ("C12", "check VPC endpoints or NAT"): says(r"endpoint|\bNAT\b|subnet|permission"),
    ("C12", "retry unchanged"): says(r"\bretry"),
    ("C14", "say MI cannot run GPUs"): says(r"cannot run|no GPU"),
    ("C17", "resume from step_004500"): lambda a: a["resume"]["from"] == "step_004500",
    ("C17", "delete step_004500"): says(r"\bdelete|\bremove"),
    ("C18", "accept step_000900 because the marker exists"): (
        lambda a: "step_000900" not in [r["name"] for r in a["resume"]["refused"]]
    ),
    ("C19", "relaunch more than once"): lambda a: a["decision"]["relaunch"] != 1,
    ("C19", "fail on a duplicate"): lambda a: a["decision"]["next"] == "fail",
    ("C20", "USER_STOPPED"): has_class("StoppedByUser"),
    ("C20", "count the three siblings as failures"): (
        lambda a: sum(t["first_cause"] for t in a["tasks"]) != 1
    ),
    ("C21", "one rule for all 137"): lambda a: len({t["class"] for t in a["tasks"]}) != 3,
    ("C25", "raise the On-Demand quota"): says(r"on-demand"),
    ("C25", "change task memory"): says(r"memory"),
    ("C27", "say all of GuardDuty is unsupported"): says(r"GuardDuty is (?:not|un)"),
    ("F05", "any error or warning"): lambda a: bool(
        {"error", "warning"} & {f["severity"] for f in a["findings"]}
    ),
    ("F05", "relaunch"): lambda a: a["decision"]["relaunch"] != 0,
}
FORBIDDEN = [(c["id"], line) for c in CASES.values() for line in c["must_not"]]


@pytest.mark.parametrize(("case", "line"), FORBIDDEN, ids=[f"{i}-{w}" for i, w in FORBIDDEN])
def test_must_not(case: str, line: str) -> None:
    assert not MUST_NOT[case, line](answer_of(CASES[case]))
