"""`phalanx.metrics/1`: what survives, of one rank, by the worlds and the rank's own file."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx.app.jobs import Job, load
from phalanx.app.metrics import metrics_view, ranks_of
from phalanx.errors import InputError
from phalanx.names import Keys
from phalanx.state.metrics import point_line
from tests.support.made_root import MadeRoot, ended_job

T = "2026-12-01T10:00:00.000Z"


@pytest.fixture
def made(tmp_path: Path) -> MadeRoot:
    made = MadeRoot(tmp_path / "root")
    ended_job(made)  # its second attempt resumed from step 40
    return made


def keep(made: MadeRoot, rank: int, *lines: str) -> None:
    path = made.path / Keys("gpt-1").metrics_file(rank)
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))


def points(attempt: int, *steps: int, **values: float | None) -> list[str]:
    return [point_line(step, attempt, T, values or {"loss": 1 / step}) for step in steps]


def refused(job: Job, **which: object) -> str:
    with pytest.raises(InputError) as error:
        metrics_view(job, **which)  # type: ignore[arg-type]
    return error.value.line()


def test_each_step_is_there_once(made: MadeRoot) -> None:
    keep(made, 0, *points(0, 10, 40, 41, 55), *points(1, 41, 200))
    view = metrics_view(load(made.root, "gpt-1"))
    assert list(view)[:5] == ["schema", "job", "phase", "rank", "ranks"]
    assert view["schema"] == "phalanx.metrics/1"
    assert [(p["step"], p["attempt"]) for p in view["points"]] == [
        (10, 0),
        (40, 0),
        (41, 1),
        (200, 1),
    ]
    assert view["points"][0] == {"step": 10, "attempt": 0, "at": T, "values": {"loss": 0.1}}
    assert (view["superseded"], view["names"], view["ranks"]) == (2, ["loss"], [0])


def test_one_metric_of_one_rank(made: MadeRoot) -> None:
    keep(made, 2, *points(1, 50, loss=1.0), *points(1, 60, loss=0.5, rate=0.1))
    keep(made, 11, *points(1, 50, loss=3.0))
    job = load(made.root, "gpt-1")
    assert ranks_of(job) == (2, 11)
    assert metrics_view(job)["rank"] == 2
    assert metrics_view(job, 11)["points"][0]["values"] == {"loss": 3.0}
    rates = metrics_view(job, name="rate")
    assert [(p["step"], p["values"]) for p in rates["points"]] == [(60, {"rate": 0.1})]


def test_what_is_not_there_is_told_with_what_is(made: MadeRoot) -> None:
    job = load(made.root, "gpt-1")
    assert metrics_view(job)["points"] == []
    assert "checkpointer.step(step, loss=loss)" in refused(job, rank=0)
    keep(made, 0, *points(1, 50))
    assert refused(job, rank=3) == "rank 3 of gpt-1 has reported no metrics (these have: 0)"
    assert refused(job, name="los") == "rank 0 of gpt-1 has reported no 'los' (it reports loss)"
