"""Job files and the plans made of them, as files beside this one.

Refresh after a wanted change, then read the difference:

    python -m tests.golden.spec.test_plans
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from phalanx.plan.build import build_plan
from phalanx.plan.job import JobPlan
from phalanx.spec.load import load
from phalanx.state import codec

FOLDER = Path(__file__).parent
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".yaml", ".yml"))
GPUS_HERE = 8


def made(file: Path) -> JobPlan:
    return build_plan(load(file).spec, gpus_here=GPUS_HERE)


def written(plan: JobPlan) -> str:
    return json.dumps(codec.plain(plan), indent=2) + "\n"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_plan(file: Path) -> None:
    golden = file.with_suffix(".plan.json").read_text(encoding="utf-8")
    assert written(made(file)) == golden
    assert codec.loads(JobPlan, golden.encode()) == made(file)


def test_no_plan_is_left_over() -> None:
    assert {path.name for path in FOLDER.glob("*.plan.json")} == {
        file.with_suffix(".plan.json").name for file in FILES
    }


if __name__ == "__main__":
    for source in FILES:
        source.with_suffix(".plan.json").write_text(written(made(source)), encoding="utf-8")
