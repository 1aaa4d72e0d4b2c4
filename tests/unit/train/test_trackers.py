"""Runs of trackers over attempts: what each attempt adds, and what it must not add again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from phalanx.errors import InputError
from phalanx.names import rank_run, run_id
from phalanx.state.codec import dumps
from phalanx.state.gang import World
from phalanx.train.flushing import before_saves, flush_all
from phalanx.train.trackers import offline, tensorboard_writer
from phalanx.train.trackers.here import Here, here, library
from phalanx.train.trackers.tracked import Journal, Tracked
from phalanx.train.trackers.weights_biases import _with_defaults
from tests.support.saves import Saves, environment


class Run:
    """The library's side: a run to which can only be added, as far as it was written."""

    def __init__(self) -> None:
        self.points: list[tuple[int, str, Any]] = []
        self.is_closed = False

    def add(self, values: Mapping[str, Any], step: int) -> None:
        self.points += [(step, name, value) for name, value in values.items()]

    def last(self, name: str) -> int:
        return -1

    def close(self) -> None:
        self.is_closed = True


class Continued(Run):
    """The same run in a later attempt."""

    def __init__(self, before: Run) -> None:
        super().__init__()
        self.points = before.points
        self.known = {name: step for step, name, _ in before.points}

    def last(self, name: str) -> int:
        return self.known.get(name, -1)


@pytest.fixture
def attempt(tmp_path: Path) -> Callable[..., Here]:
    """Where rank 0 stands in an attempt that began with so many steps done."""
    saves = Saves(tmp_path)

    def begin(number: int, done: int = 0, **more: str) -> Here:
        saves.store.create(saves.keys.world(number), dumps(World(number, (), None, done)))
        env = environment(saves, number, PHALANX_RUN_ID="job-1-0123abcd", **more)
        found = here(env)
        assert found is not None
        (Path(saves.root) / saves.keys.base).mkdir(parents=True, exist_ok=True)
        return found

    return begin


def logged(run: Run, place: Here, steps: range, first: int = 0) -> Tracked:
    tracked = Tracked(None, "id", run, Journal(place, "test", first))
    for step in steps:
        tracked.log({"loss": float(place.rank.attempt)}, step)
    return tracked


def test_steps_that_are_done_again_keep_their_first_values(attempt) -> None:
    run = Run()
    logged(run, attempt(0), range(55))
    logged(Continued(run), attempt(1, 40), range(40, 60)).finish()
    assert [(step, value) for step, _, value in run.points] == [
        *((step, 0.0) for step in range(55)),
        *((step, 1.0) for step in range(55, 60)),
    ]


def test_what_survived_but_never_reached_the_run_is_added(attempt) -> None:
    run = Run()
    logged(run, attempt(0), range(55))
    del run.points[10:]  # a kill before the library wrote them
    logged(Continued(run), attempt(1, 40), range(40, 60))
    assert [(step, value) for step, _, value in run.points] == [
        *((step, 0.0) for step in range(40)),
        *((step, 1.0) for step in range(40, 60)),
    ]


def test_scripts_that_count_finished_steps_say_so(attempt) -> None:
    run = Run()
    logged(run, attempt(0), range(1, 56), first=1)
    del run.points[30:]
    logged(Continued(run), attempt(1, 40), range(41, 61), first=1)
    assert [step for step, _, _ in run.points] == list(range(1, 61))


def test_each_metric_goes_on_where_it_stood(attempt) -> None:
    run = Run()
    tracked = logged(run, attempt(0), range(5))
    tracked.log({"accuracy": math.nan}, 2)
    again = Tracked(None, "id", Continued(run), Journal(attempt(1, 2), "test", 0))
    again.log({"loss": 9.0, "accuracy": 9.0}, 4)
    assert (4, "accuracy", 9.0) in run.points
    assert (4, "loss", 9.0) not in run.points


def test_a_number_that_is_none_comes_back_as_nan(attempt) -> None:
    logged(Run(), attempt(0), range(0)).log({"loss": math.nan}, 3)
    run = Run()
    Tracked(None, "id", run, Journal(attempt(1, 10), "test", 0))
    ((step, name, value),) = run.points
    assert (step, name, math.isnan(value)) == (3, "loss", True)


def test_a_with_block_ends_the_run() -> None:
    run = Run()
    with Tracked(None, "id", run, None) as tracked:
        tracked.log({"loss": 1.0, "picture": "pixels"}, 0)
    assert run.points == [(0, "loss", 1.0), (0, "picture", "pixels")]
    assert run.is_closed


def shown(folder: Path) -> list[tuple[int, float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    return [(e.step, e.value) for e in EventAccumulator(str(folder)).Reload().Scalars("loss")]


def test_tensorboard_hides_what_is_done_again(attempt, monkeypatch, tmp_path: Path) -> None:
    for number, done, last in ((0, 0, 12), (1, 8, 15)):
        place = attempt(number, done)
        for name, value in environment(Saves(tmp_path), number).items():
            monkeypatch.setenv(name, value)
        writer = tensorboard_writer()
        for step in range(done, last):
            writer.add_scalar("loss", number, step)
        writer.close()
    folder = Path(place.files) / "tensorboard"
    assert shown(folder) == [*((s, 0.0) for s in range(8)), *((s, 1.0) for s in range(8, 15))]


def test_outside_phalanx_the_writer_is_the_librarys_own(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PHALANX_JOB", raising=False)
    writer = tensorboard_writer(str(tmp_path / "runs"))
    writer.add_scalar("loss", 1.0, 0)
    writer.close()
    assert shown(tmp_path / "runs") == [(0, 1.0)]
    assert here({}) is None


def test_the_step_is_what_the_world_says_else_the_checkpoint(attempt, tmp_path: Path) -> None:
    assert attempt(3, 17).done == 17
    saves = Saves(tmp_path / "other")
    found = here(environment(saves, 1, PHALANX_RESUME="0000000040-0"))
    assert found is not None
    assert found.done == 40


def test_a_framework_that_saves_by_itself_may_be_tracked(attempt) -> None:
    assert attempt(2, 30, PHALANX_CHECKPOINT_MODE="watch", PHALANX_RESUME="").done == 30


def test_wandb_gets_the_jobs_id_unless_it_has_one(attempt, monkeypatch) -> None:
    for name in ("WANDB_RUN_ID", "WANDB_DIR"):
        monkeypatch.delenv(name, raising=False)
    place = attempt(0)
    ours = {"id": "job-1-0123abcd", "name": "job-1", "resume": "allow", "dir": place.files}
    assert _with_defaults({"project": "p"}, place) == {**ours, "project": "p"}
    assert _with_defaults({"id": "mine"}, place)["id"] == "mine"
    assert "resume" not in _with_defaults({"resume_from": "x?_step=3"}, place)
    other = attempt(1, RANK="2", WORLD_SIZE="4")
    assert _with_defaults({}, other)["id"] == "job-1-0123abcd-r2"
    monkeypatch.setenv("WANDB_RUN_ID", "mine")
    monkeypatch.setenv("WANDB_DIR", "/elsewhere")
    assert set(_with_defaults({}, place)) == {"name", "resume"}


def test_run_ids_differ_between_jobs_of_one_name_and_between_ranks() -> None:
    assert run_id("gpt-1", 1) != run_id("gpt-1", 2)
    assert run_id("gpt-1", 1) == run_id("gpt-1", 1)
    assert rank_run("gpt-1-aa", 0) == "gpt-1-aa"
    assert rank_run("gpt-1-aa", 3) == "gpt-1-aa-r3"


@pytest.mark.parametrize("data", [b"", b":W&B\xe1\xbe\x00", b":W&B\xe1\xbe\x00" + b"\x07" * 40])
def test_a_wandb_file_cut_short_holds_no_step(tmp_path: Path, data: bytes) -> None:
    folder = tmp_path / "offline-run-20261201_100000-job-1-aa"
    folder.mkdir()
    (folder / "run-job-1-aa.wandb").write_bytes(data)
    assert offline.last_step(str(tmp_path), "job-1-aa") == -1


def test_a_library_that_is_missing_is_one_line() -> None:
    with pytest.raises(InputError, match="no_such_tracker cannot be imported"):
        library("no_such_tracker", "no_such_tracker")


def test_a_tracker_that_cannot_write_does_not_stop_a_save(capsys) -> None:
    done: list[str] = []

    def broken() -> None:
        raise OSError("disk full")

    before_saves(broken)
    before_saves(lambda: done.append("written"))
    flush_all()
    flush_all()
    assert done == ["written", "written"]
    assert capsys.readouterr().err.count("a tracker did not write: OSError: disk full") == 1
