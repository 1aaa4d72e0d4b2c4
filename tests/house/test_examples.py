"""The examples are whole: their job files make a plan, and name what lies beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx.plan.build import build_plan
from phalanx.spec.load import load
from tests.house.tree import ROOT

JOB_FILES = sorted((ROOT / "examples").glob("*/job.yaml"))


def test_there_are_examples() -> None:
    assert ROOT / "examples" / "gpt" / "job.yaml" in JOB_FILES


@pytest.mark.parametrize("path", JOB_FILES, ids=lambda path: path.parent.name)
def test_the_job_file_makes_a_plan(path: Path) -> None:
    plan = build_plan(load(path).spec)
    scripts = [word for word in plan.command if word.endswith(".py")]
    assert scripts
    assert all((path.parent / script).is_file() for script in scripts)
    assert (path.parent / "README.md").is_file()
