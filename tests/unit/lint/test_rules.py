"""What every rule must have, and the words of `phalanx rules`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from phalanx.cli.rules import command
from phalanx.errors import InputError
from phalanx.lint.discover import all_rules, find_rule, rules_on
from phalanx.lint.output.pages import pages
from phalanx.lint.rule import Rule

PREFIX = {
    "host": "HST",
    "placement": "PLC",
    "gpu": "GPU",
    "efa": "EFA",
    "nccl": "NCC",
    "gang": "GNG",
    "spot": "SPT",
    "stop": "STP",
    "storage": "STO",
    "capacity": "CAP",
    "neuron": "NEU",
    "serving": "SRV",
    "security": "SEC",
    "observability": "OBS",
    "cost": "CST",
}
TESTS = "\n".join(p.read_text() for p in (Path(__file__).parent / "rules").rglob("test_*.py"))
EVERY = pytest.mark.parametrize("rule", all_rules(), ids=lambda r: r.id)


@EVERY
def test_its_names_follow_the_house(rule: Rule[Any]) -> None:
    area = rule.check.__module__.split(".")[-2]
    assert area in rule.areas
    assert re.fullmatch(PREFIX[area] + r"\d{3}", rule.id)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.slug)
    assert set(rule.areas) <= set(PREFIX)
    assert all(re.fullmatch(r"GR[1-9]|SB[1-8]", guard) for guard in rule.guards)
    assert all(re.fullmatch(r"[A-Z]{2,3}-\d{2}", fact) for fact in rule.facts)


@EVERY
def test_it_says_why_and_what_to_do_with_a_source(rule: Rule[Any]) -> None:
    assert rule.message
    assert not rule.message.endswith(".")
    assert rule.why.endswith(".")
    assert len(rule.fix) > 10
    assert rule.sources
    for source in rule.sources:
        assert source.url.startswith("https://")
        assert re.fullmatch(r"20\d\d-\d\d-\d\d|undated", source.verified)


@EVERY
def test_it_has_a_test(rule: Rule[Any]) -> None:
    assert f'"{rule.slug}"' in TESTS


@EVERY
def test_it_is_found_by_id_and_slug_and_has_a_page(rule: Rule[Any]) -> None:
    assert find_rule(rule.id.lower()) is rule
    assert find_rule(rule.slug) is rule
    made = pages(all_rules())
    assert f"[{rule.id}]" in made["README.md"]
    assert rule.why in made[f"{rule.areas[0]}.md"]


def test_only_the_rules_of_a_kind_are_taken() -> None:
    kinds = {rule.on.__name__ for rule in all_rules()}
    assert len(kinds) > 5
    for kind in kinds:
        wanted = tuple(rule for rule in all_rules() if rule.on.__name__ == kind)
        assert rules_on(frozenset({kind})) == wanted
    assert rules_on(frozenset()) == ()


def run(*words: str) -> str:
    result = CliRunner().invoke(command, words, catch_exceptions=False, standalone_mode=False)
    return result.stdout


def test_the_verb_lists_and_shows() -> None:
    assert len(run().splitlines()) == len(all_rules())
    shown = run("show", "efa-memlock")
    assert "EFA002" in shown
    assert "memlock" in shown
    listed = json.loads(run("--area", "efa", "--json"))
    assert {"efa-memlock"} <= {r["slug"] for r in listed["rules"]}
    assert all("efa" in r["areas"] for r in listed["rules"])
    for words in (["show", "nothing"], ["--area", "nothing"]):
        with pytest.raises(InputError):
            run(*words)
