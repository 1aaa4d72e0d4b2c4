"""Whatever the file holds: findings, or one line that says what is wrong; never a crash."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phalanx.errors import InputError
from phalanx.lint.engine import lint
from phalanx.lint.source import SourceFile
from tests.support.mutate import mutate, scramble

FOLDER = Path(__file__).parent.parent / "cases" / "lint"
FILES = sorted(p for p in FOLDER.iterdir() if p.name != "index.json")


def survives(name: str, content: str) -> None:
    """Findings, or one line; and no rule crashes."""
    try:
        report = lint([SourceFile(name, content)])
    except InputError as error:
        line = error.line()
    else:
        line = " ".join(f.message for f in report.findings if f.rule == "PHX001")
        assert not line
    assert "\n" not in line


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_mutated_text(path: Path, seed: int) -> None:
    survives(path.name, scramble(path.read_text(), random.Random(seed)))


@pytest.mark.parametrize("path", [p for p in FILES if p.suffix == ".json"], ids=lambda p: p.name)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_mutated_document(path: Path, seed: int) -> None:
    rng = random.Random(seed)
    value = mutate(json.loads(path.read_text()), rng, rng.randint(1, 4))
    survives(path.name, json.dumps(value))


@settings(max_examples=60, deadline=None)
@given(
    content=st.text(max_size=200),
    name=st.sampled_from(["a.json", "a.yaml", "a.tf", "compose.yml", "a.template"]),
)
def test_any_text(content: str, name: str) -> None:
    survives(name, content)
