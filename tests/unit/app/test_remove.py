"""What may be removed, and what stays of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from phalanx.app.jobs import job_ids
from phalanx.app.remove import Sweepers, freed, needed_by, remove_view
from phalanx.app.root import Root
from phalanx.app.submit import create
from phalanx.checkpoint.beginning import held
from phalanx.errors import InputError, StoreError
from phalanx.names import Keys, checkpoint_name
from phalanx.plan.lineage import Origin
from phalanx.state.codec import dumps
from phalanx.words import Phase
from tests.support.clocks import SleepingClock
from tests.support.made_root import MadeRoot, ended_job, plan, record

CHECKPOINT = checkpoint_name(200, 1)


@pytest.fixture
def made(tmp_path: Path) -> MadeRoot:
    return MadeRoot(tmp_path / "root")


def nobody(root: Root, job: str) -> None:
    raise AssertionError("a job that is settled needs no controller")


BY_NOBODY = Sweepers(nobody, SleepingClock())


def descendant(made: MadeRoot, job: str, *, has_copy: bool) -> None:
    """A job that began from `CHECKPOINT` of gpt-1."""
    origin = Origin(job="gpt-1", checkpoint=CHECKPOINT, step=200)
    made.store.create(Keys(job).origin, dumps(origin))
    if has_copy:
        made.store.create(f"{held(Keys(job), CHECKPOINT)}/manifest", b"{}")
    made.put(record(job, plan=plan(init_from=origin)))


def test_a_removed_job_is_gone_and_its_number_is_not_given_again(made: MadeRoot) -> None:
    ended_job(made, "gpt-1", sweeps=2)
    ended_job(made, "gpt-2", sweeps=2)
    made.log("gpt-2", "0.0-0/0.out.0", b"x" * 1000)
    view = remove_view(made.root, ["gpt-2", "gpt-2"], BY_NOBODY)
    assert [(one["job"], one["phase"]) for one in view["removed"]] == [("gpt-2", "Succeeded")]
    assert view["bytes"] == view["removed"][0]["bytes"] > 1000
    assert job_ids(made.root) == ("gpt-1",)
    assert create(made.root, plan()) == "gpt-3"


def test_one_that_runs_keeps_all_of_them(made: MadeRoot) -> None:
    ended_job(made, "gpt-1", sweeps=2)
    made.put(record("gpt-2", phase=Phase.PAUSED))
    with pytest.raises(StoreError, match="gpt-2 is Paused") as refused:
        remove_view(made.root, ["gpt-1", "gpt-2"], BY_NOBODY)
    assert "`phalanx stop gpt-2` first" in refused.value.line()
    assert job_ids(made.root) == ("gpt-1", "gpt-2")


@pytest.mark.parametrize("text", ["gpt", "gpt-9", "../gpt-1", "removed"])
def test_only_whole_ids_are_removed(made: MadeRoot, text: str) -> None:
    ended_job(made, "gpt-1", sweeps=2)
    with pytest.raises(InputError) as refused:
        remove_view(made.root, [text], BY_NOBODY)
    assert ("write gpt-1" in refused.value.line()) == (text == "gpt")
    assert job_ids(made.root) == ("gpt-1",)


def test_a_job_from_which_another_begins_stays_until_that_has_a_copy(made: MadeRoot) -> None:
    ended_job(made, "gpt-1", sweeps=2)
    descendant(made, "tune-1", has_copy=False)
    descendant(made, "tune-2", has_copy=True)
    reason = "tune-1 begins from step 200 of it and has no copy yet"
    assert needed_by(made.root, "gpt-1") == [reason]
    assert needed_by(made.root, "gpt-1", ["tune-1"]) == []
    assert needed_by(made.root, "tune-1") == []
    with pytest.raises(StoreError, match=reason):
        remove_view(made.root, ["gpt-1"], BY_NOBODY)
    made.store.create(f"{held(Keys('tune-1'), CHECKPOINT)}/manifest", b"{}")
    assert remove_view(made.root, ["gpt-1"], BY_NOBODY)["removed"][0]["job"] == "gpt-1"


def test_a_submit_that_has_not_written_its_record_is_waited_for(made: MadeRoot) -> None:
    ended_job(made, "gpt-1", sweeps=2)
    key = Keys("tune-1").origin
    made.store.create(key, dumps(Origin(job="gpt-1", checkpoint=CHECKPOINT, step=200)))
    assert len(needed_by(made.root, "gpt-1")) == 1
    os.utime(made.path / key, (1, 1))
    assert needed_by(made.root, "gpt-1") == []


def test_a_job_whose_tasks_may_live_is_swept_first(made: MadeRoot) -> None:
    ended_job(made, "gpt-1", sweeps=0)

    def sweep(root: Root, job: str) -> None:
        ended_job(made, job, sweeps=2)

    assert remove_view(made.root, ["gpt-1"], Sweepers(sweep, SleepingClock()))["removed"]


def test_a_task_that_will_not_end_keeps_its_job(made: MadeRoot) -> None:
    ended_job(made, "gpt-1", sweeps=0)
    with pytest.raises(StoreError, match="still ending"):
        remove_view(made.root, ["gpt-1"], Sweepers(lambda root, job: None, SleepingClock()))
    assert job_ids(made.root) == ("gpt-1",)


def test_what_others_hold_as_well_is_not_freed(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    (mine / "alone").write_bytes(b"x" * 100)
    (mine / "twice").write_bytes(b"x" * 1000)
    os.link(mine / "twice", mine / "again")
    (mine / "shared").write_bytes(b"x" * 10_000)
    os.link(mine / "shared", other)
    assert freed(str(mine)) == 1100
    assert freed(str(tmp_path)) == 11_100
