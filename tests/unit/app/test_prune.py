"""Checkpoints go by a person's hand, as carefully as by a controller's."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx.app.jobs import Job, load
from phalanx.app.prune import Wish, prune_view
from phalanx.app.root import open_root
from phalanx.checkpoint.find import names
from phalanx.clock import SECOND_NS
from phalanx.errors import InputError
from phalanx.frozen import replace
from phalanx.names import checkpoint_name
from phalanx.plan.job import JobPlan
from phalanx.state.codec import dumps
from phalanx.state.gang import World
from phalanx.state.record import Record, Seat
from phalanx.words import Phase
from tests.support.saves import JOB, Saves


@pytest.fixture
def saves(tmp_path: Path) -> Saves:
    """Steps 10 to 50 are committed; the present attempt began from step 10."""
    made = Saves(tmp_path)
    for step in range(10, 60, 10):
        made.committed(step)
    made.store.create(made.keys.world(0), dumps(World(0, (), checkpoint_name(10, 0), 10)))
    return made


def job(saves: Saves, phase: Phase = Phase.SUCCEEDED) -> Job:
    plan = JobPlan(name="job", command=("true",))
    record = Record(JOB, plan, 1, phase=phase, seats=(Seat(0),))
    found = saves.store.read(saves.keys.record)
    saves.store.swap(saves.keys.record, dumps(record), found.version if found else None)
    return load(open_root(saves.root), JOB)


def steps(saves: Saves) -> list[int]:
    return [int(name.split("-")[0]) for name in names(saves.store, saves.keys)]


def test_the_newest_stay_and_what_the_attempt_began_from(saves: Saves) -> None:
    answer = prune_view(job(saves), Wish(keep=2))
    assert [item["step"] for item in answer["pruned"]] == [20, 30]
    assert all(item["bytes"] > 0 for item in answer["pruned"])
    assert steps(saves) == [50, 40, 10]
    assert answer["kept"] == [checkpoint_name(step, 0) for step in (50, 40, 10)]
    assert prune_view(job(saves), Wish())["pruned"] == []  # the job file keeps three


def test_a_dry_run_leaves_everything(saves: Saves) -> None:
    answer = prune_view(job(saves), Wish(steps=(20, 40)), dry_run=True)
    assert [item["step"] for item in answer["pruned"]] == [20, 40]
    assert answer["dry_run"] is True
    assert steps(saves) == [50, 40, 30, 20, 10]


def test_only_the_steps_that_were_named_go(saves: Saves) -> None:
    prune_view(job(saves), Wish(steps=(20, 40)))
    assert steps(saves) == [50, 30, 10]


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (50, "0000000050-0 stays: it is the newest committed one"),
        (10, "0000000010-0 stays: the present attempt began from it"),
        (60, "0000000060-0 stays: it is newer than the newest committed one"),
        (45, "0000000045-0 stays: it is unfinished and of the present attempt"),
        (25, "job-1 has no checkpoint of step 25"),
    ],
)
def test_what_is_needed_stays_and_nothing_else_goes(saves: Saves, step: int, says: str) -> None:
    saves.store.create(saves.keys.part(checkpoint_name(60, 0), 0), b"{}")
    saves.store.create(saves.keys.part(checkpoint_name(45, 0), 0), b"{}")
    with pytest.raises(InputError, match=says):
        prune_view(job(saves), Wish(steps=(30, step)))
    assert 30 in steps(saves)


class SteppedClock:
    """Sleeps do not last: a test may do something in each."""

    def __init__(self, saves: Saves) -> None:
        self.ns = 0
        self.marked: list[list[str]] = []
        self._saves = saves

    def monotonic_ns(self) -> int:
        return self.ns

    def sleep(self, seconds: float) -> None:
        self.ns += SECOND_NS
        folder = Path(self._saves.root, self._saves.keys.checkpoints)
        self.marked.append(sorted(path.parent.name for path in folder.glob("*/retired")))
        for mark in folder.glob("*/retired"):
            # As if the mark had been there for an hour.
            text = mark.read_text().splitlines()
            mark.unlink()
            mark.write_text(f'{text[0]}\n{{"since_ns":1}}')


def test_of_a_running_job_they_are_marked_first_and_deleted_later(saves: Saves) -> None:
    clock, told = SteppedClock(saves), []
    answer = prune_view(job(saves, Phase.RUNNING), Wish(keep=3), tell=told.append, clock=clock)
    assert [item["step"] for item in answer["pruned"]] == [20]
    assert clock.marked[0] == [checkpoint_name(20, 0)]
    assert steps(saves) == [50, 40, 30, 10]
    assert told == ["waiting 5 s, as a rank may still be reading them"]


def test_what_a_new_world_names_meanwhile_stays(saves: Saves) -> None:
    class Restarts(SteppedClock):
        def sleep(self, seconds: float) -> None:
            world = World(1, (), checkpoint_name(20, 0), 20)
            saves.store.create(saves.keys.world(1), dumps(world))
            record = job(saves, Phase.RUNNING).record
            found = saves.store.read(saves.keys.record)
            assert found is not None
            body = dumps(replace(record, attempt=1))
            saves.store.swap(saves.keys.record, body, found.version)
            super().sleep(seconds)

    answer = prune_view(job(saves, Phase.RUNNING), Wish(keep=3), clock=Restarts(saves))
    assert answer["pruned"] == []
    assert steps(saves) == [50, 40, 30, 20, 10]
