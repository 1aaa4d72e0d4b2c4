"""Every reason that people can meet is explained in docs/reasons.md."""

from __future__ import annotations

import ast
import re

import pytest

from phalanx.verdict.advice import advice
from phalanx.words import FailureClass, Phase
from tests.house.tree import ROOT, Module, modules

DOCUMENT = (ROOT / "docs" / "reasons.md").read_text()
HEADINGS = set(re.findall(r"^### (\w+)$", DOCUMENT, flags=re.MULTILINE))
ROWS = set(re.findall(r"^\| `(\w+)` \|", DOCUMENT, flags=re.MULTILINE))

_WORD = re.compile(r"[A-Z][a-z]+([A-Z][a-z]+)*")
_SPEAKING = ("reconcile", "controller", "state")


def reason_words(module: Module) -> set[str]:
    """CamelCase words written out in the rooms that give reasons."""
    return {
        node.value
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _WORD.fullmatch(node.value)
    }


@pytest.mark.parametrize("failure", FailureClass)
def test_a_failure_class_is_explained(failure: FailureClass) -> None:
    assert failure.value in HEADINGS


@pytest.mark.parametrize("failure", FailureClass)
def test_the_page_says_what_the_command_says(failure: FailureClass) -> None:
    said = advice(failure)
    page = " ".join(DOCUMENT.split())
    for sentence in (said.means, said.phalanx, said.person):
        assert " ".join(sentence.split()) in page, "run scripts/reasons_page.py"


@pytest.mark.parametrize("phase", Phase)
def test_a_phase_is_explained(phase: Phase) -> None:
    assert phase.value in ROWS


def test_every_reason_is_explained() -> None:
    used = set().union(*(reason_words(m) for m in modules() if m.room in _SPEAKING))
    assert "Submitted" in used
    assert used - HEADINGS - ROWS == set()


def test_no_reason_is_explained_that_does_not_exist() -> None:
    used = set().union(*(reason_words(m) for m in modules()))
    assert ROWS - used - {p.value for p in Phase} == set()
    assert {f.value for f in FailureClass} == HEADINGS
