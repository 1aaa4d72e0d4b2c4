from __future__ import annotations

import json
from importlib.resources import files

import pytest

from phalanx.errors import SpecError
from phalanx.spec.load_workload import load_workload
from phalanx.spec.schema import WORKLOAD_SCHEMA_FILE, workload_schema
from phalanx.spec.workload_fields import count, day
from phalanx.spec.wrong import Wrong
from tests.house.tree import ROOT


def test_the_shipped_schema_is_the_generated_one() -> None:
    place = files("phalanx").joinpath("schemas", WORKLOAD_SCHEMA_FILE)
    shipped = json.loads(place.read_text("utf-8"))
    assert shipped == workload_schema(), "run: python scripts/schemas.py"


def test_the_page_names_every_field(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import workload_page

    assert workload_page.tables() in workload_page.PAGE.read_text(), "run scripts/workload_page.py"


@pytest.mark.parametrize(
    ("said", "number"),
    [("7B", 7 * 10**9), ("350M", 350 * 10**6), ("1.5b", 15 * 10**8), (1e9, 10**9), ("12", 12)],
)
def test_counts(said: object, number: int) -> None:
    assert count(said) == number


@pytest.mark.parametrize("said", ["", "7 billion", "-1", 0, 1e20, True, None, float("nan")])
def test_what_is_no_count(said: object) -> None:
    with pytest.raises(Wrong):
        count(said)


def test_days() -> None:
    assert day("2026-11-30") == "2026-11-30"
    for said in ("30.11.2026", "2026-13-01", None, 5):
        with pytest.raises(Wrong):
            day(said)


def test_the_example_of_the_page_loads() -> None:
    text = (ROOT / "docs" / "plan.md").read_text().split("```yaml\n")[1].split("```")[0]
    assert load_workload(text).use == "training"


def test_a_near_name_is_suggested_from_this_file_and_not_from_a_job_file() -> None:
    with pytest.raises(SpecError) as caught:
        load_workload("kind: workload\nname: w\nuse: training\ngpus: 4\n", "w.yaml")
    assert "resources" not in caught.value.line()
    assert "its fields are" in caught.value.line()
    with pytest.raises(SpecError, match="this file has no field 'latency'") as caught:
        load_workload("kind: workload\nname: w\nuse: inference\nlatency: 3s\n", "w.yaml")
    assert caught.value.hint == "did you mean serving.latency?"
