"""Workloads as files, each with the decisions that are right for it in its first lines.

`# expect:` is followed by one line each for D1 to D5, `route_out`, and where it matters `type`,
`nodes`, `form` (of parallelism) and `finding` (a slug).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from phalanx.cli.plan import planned
from phalanx.facts.instances import all_instances
from phalanx.facts.rows import rows
from phalanx.plan.page import page
from phalanx.plan.view import view

FILES = sorted((Path(__file__).parent / "scenarios").glob("*.yaml"))
MONEY = re.compile(
    r"(?:[$€£]|\b(?:USD|EUR|GBP)\b)\s*\d|\d\s*(?:[$€£]|\b(?:USD|EUR|GBP|dollars?)\b)"
)


def expected(file: Path) -> dict[str, str]:
    """The lines of the head: name → value."""
    head = file.read_text("utf-8").split("\nkind:")[0].splitlines()[1:]
    return dict(line.lstrip("# ").split(": ", 1) for line in head)


def plan(file: Path) -> dict[str, Any]:
    return view(planned((str(file),)))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_decisions_are_right(file: Path) -> None:
    made = plan(file)
    wanted = expected(file)
    assert wanted, "a scenario says what is right for it"
    got: dict[str, Any] = {decision["id"]: decision["choice"] for decision in made["decisions"]}
    got["route_out"] = made["route_out"]["to"] if made["route_out"] else "null"
    for group in made["capacity"]["groups"]:
        got |= {"type": group["instance_type"], "nodes": str(group["max"])}
    if made["parallelism"]:
        got["form"] = str(made["parallelism"]["choice"])
    slugs = {finding["slug"] for finding in made["findings"]}
    got["finding"] = wanted["finding"] if wanted.get("finding") in slugs else sorted(slugs)
    assert {name: got.get(name) for name in wanted} == wanted
    assert {f["slug"] for f in made["findings"] if f["severity"] == "error"} <= {
        wanted.get("finding")
    }


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 25


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_decision_says_why_and_on_what_it_rests(file: Path) -> None:
    made = plan(file)
    assert [decision["id"] for decision in made["decisions"]] == ["D1", "D2", "D3", "D4", "D5"]
    known = set(rows()) | {row.name for row in all_instances()}
    for decision in made["decisions"]:
        assert decision["reasons"]
        assert decision["rejected"]
        assert decision["would_change_if"]
        assert decision["sources"]
        for source in decision["sources"]:
            assert source["url"].startswith("https://")
            assert source["verified"]
            assert source["fact"] in known
        others = [other["choice"] for other in decision["rejected"]]
        assert decision["choice"] not in others
        assert len(set(others)) == len(others)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_accelerators_never_stand_on_fargate(file: Path) -> None:
    host, accelerator = plan(file)["decisions"][:2]
    assert host["choice"] != "fargate" or accelerator["choice"] == "none"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_cost_without_a_price_and_no_amount_in_the_page(file: Path) -> None:
    design = planned((str(file),))
    made = view(design)
    assert made["cost"] is None
    assert made["cost_basis"]["because"].startswith("No basis")
    assert len(made["cost_basis"]["drivers"]) >= 3
    assert MONEY.findall(page(design)) == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_page_holds_what_the_object_says(file: Path) -> None:
    design = planned((str(file),))
    made, text = view(design), page(design)
    for decision in made["decisions"]:
        assert f"## {decision['id']}: {decision['choice']}" in text
        assert all(reason in text for reason in decision["reasons"])
    for item in made["security"]:
        assert item["id"] in text
    for note in made["assumptions"]:
        assert note in text
    assert [item["id"] for item in made["security"]] == [f"SB{n}" for n in range(1, 9)]
    assert [rail["id"] for rail in made["guardrails"]] == [f"GR{n}" for n in range(1, 10)]
    most = 3 if made["decisions"][0]["choice"] == "fargate" else 6
    assert [lever["order"] for lever in made["levers"]] == list(range(1, most + 1))
    quoted = {int(number) for number in re.findall(r"\[(\d+)\]", text)}
    assert quoted == set(range(1, len(quoted) + 1))
    assert f"\n{len(quoted)}. https://" in text
