"""`why`: what happened, what was done about it, what comes next, and the evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from phalanx.agent.departure import Departure, rebalance, spot, stop_save
from phalanx.app import api
from phalanx.app.jobs import load
from phalanx.cli import view as text_view
from phalanx.names import Keys
from phalanx.plan.job import CheckpointPlan
from phalanx.state.record import Cause, PastAttempt, Record, Seat, StopRequest
from phalanx.words import FailureClass, Phase
from tests.support.made_root import KILLED, SECOND, T0, MadeRoot, plan, record, running_job

SAVED = "0000000080-0"
HANG = Cause(
    FailureClass.HANG,
    "rank 1 (slot 1) hangs: it is at train.py:12 in spin, the others wait for it",
    slot=1,
    rank=1,
    evidence=(("evidence/stacks-0-00001", "rank 1: step 12, code at train.py:12 in spin"),),
)


@pytest.fixture
def made(tmp_path: Path) -> MadeRoot:
    return MadeRoot(tmp_path / "root")


def why(made: MadeRoot, value: Record | None = None) -> dict[str, Any]:
    if value is not None:
        made.put(value)
    return api.why_of(load(made.root, "gpt-1"))


def done(view: dict[str, Any]) -> list[str]:
    return [item["says"] for item in view["done"]]


def test_a_job_that_runs_after_a_loss(made: MadeRoot) -> None:
    running_job(made)
    view = why(made)
    assert view["first_cause"]["class"] == "Killed"
    assert done(view) == [
        "attempt 0 was ended, its ranks stopped",
        "attempt 1 was opened from checkpoint 0000000040-0 (step 40); it does not count as a"
        " restart",
    ]
    assert view["next"] == {
        "action": "none: the job runs; a restart would go on from step 40",
        "at": None,
    }


def test_a_slot_that_moved_is_told(made: MadeRoot) -> None:
    seats = (Seat(0, launched_ns=T0), Seat(1, 1, launched_ns=None))
    view = why(made, record(phase=Phase.RESTARTING, seats=seats))
    assert done(view)[2:] == ["slot 1 was given a new task (incarnation 1)"]
    assert view["next"]["action"] == "start attempt 1 from step 0"


def test_a_hang_names_the_stacks_that_were_kept(made: MadeRoot) -> None:
    past = PastAttempt(0, T0 + 10 * SECOND, HANG, True, None)
    view = why(made, record(history=(past,)))
    assert view["evidence"] == [
        {
            "where": "evidence/stacks-0-00001",
            "says": "rank 1: step 12, code at train.py:12 in spin",
            "at": "2026-05-28T20:26:50.000Z",
        }
    ]
    assert "from the beginning; it counts as a restart" in done(view)[1]


def test_what_came_of_notices(made: MadeRoot) -> None:
    running_job(made)
    keys = Keys("gpt-1")
    saved, advice, lost = Departure(spot(120), []), Departure(rebalance(), []), spot(2)
    saved.saved = SAVED
    saved.keep(made.store, keys, (1, 0, 0))
    advice.declined = "a save takes 900 ms and 500 ms are left"
    advice.keep(made.store, keys, (0, 0, 1))
    Departure(lost, []).keep(made.store, keys, (0, 0, 1))
    Departure(lost, []).keep(made.store, keys, (0, 0, 7))
    made.store.create(f"{keys.notices}/odd-0.0-1", b"[]")
    found = {item["where"]: item["says"] for item in why(made)["evidence"]}
    found.pop(KILLED.evidence[0][0])
    assert found == {
        "notices/spot-1.0-0": f"spot notice to slot 1, with a deadline: all ranks saved {SAVED}",
        "notices/rebalance-0.0-1": "rebalance notice to slot 0, without a deadline: declined to"
        " save: a save takes 900 ms and 500 ms are left",
        "notices/spot-0.0-1": "spot notice to slot 0, with a deadline: no answer is known",
    }


@pytest.mark.parametrize("failure", list(FailureClass))
def test_a_failed_job_says_what_to_do(made: MadeRoot, failure: FailureClass) -> None:
    cause = Cause(failure, "it broke")
    view = why(made, record(phase=Phase.FAILED, cause=cause, ended_ns=T0 + 20 * SECOND))
    action = view["next"]["action"]
    assert action.startswith("none: mend the cause and run the job again")
    assert "Nothing" not in action, "nothing is left to others once a job has ended"
    assert "init_from" not in action, "nothing is committed"
    assert done(view)[-1] == "every task was stopped"


@pytest.mark.parametrize(
    ("changes", "action", "at"),
    [
        ({"phase": Phase.PENDING, "history": ()}, "a controller takes the job up", None),
        ({"phase": Phase.STARTING, "history": ()}, "the tasks join and the first step is", None),
        ({"phase": Phase.SUCCEEDED}, "none: the job has succeeded", None),
        ({"phase": Phase.STOPPED}, "none: the job was stopped", None),
        (
            {"phase": Phase.STOPPING, "ending": Phase.STOPPED, "stop": StopRequest(T0, save=True)},
            "stop every task, then Stopped",
            None,
        ),
        (
            {"phase": Phase.RESTARTING, "backoff_until_ns": T0 + 60 * SECOND},
            "open attempt 2 from step 0",
            "2026-05-28T20:27:40.000Z",
        ),
        (
            {
                "phase": Phase.RESTARTING,
                "reason": "StoreUnreachable",
                "plan": plan(start_timeout_s=60.0),
            },
            "go on when the slots give signs again; else replace them",
            "2026-05-28T20:27:50.000Z",
        ),
    ],
)
def test_what_comes_next(
    made: MadeRoot, changes: dict[str, Any], action: str, at: str | None
) -> None:
    view = why(made, record(**changes))
    assert view["next"]["action"].startswith(action)
    assert view["next"]["at"] == at
    if "stop" in changes:
        assert "the job was asked to stop, after a last save if it can" in done(view)


def test_people_read_the_same(made: MadeRoot) -> None:
    running_job(made)
    view = why(made)
    lines = text_view.why(view).splitlines()
    assert [line.removeprefix("done: ") for line in lines if line.startswith("done")] == done(view)
    assert lines[-1] == f"next: {view['next']['action']}"
    json.dumps(view)


GO_ON = "`init_from: {job: gpt-1, take: all}` goes on from step 40, which is saved"


@pytest.mark.parametrize(
    ("reason", "failure", "action"),
    [
        ("MaxRuntime", FailureClass.STOPPED_BY_US, "raise `limits.max_runtime` in the job file"),
        (
            "MaxInstanceHours",
            FailureClass.STOPPED_BY_US,
            "raise `limits.max_instance_hours` in the job file",
        ),
        (
            "MaxWaiting",
            FailureClass.CAPACITY_UNAVAILABLE,
            "find out why the slots did not come up, or raise `limits.max_waiting`",
        ),
        ("Killed", FailureClass.KILLED, "mend the cause and run the job again"),
        ("NoProgress", FailureClass.HANG, "mend the cause and run the job again"),
    ],
)
def test_a_job_that_has_ended_goes_on_from_what_is_saved(
    made: MadeRoot, reason: str, failure: FailureClass, action: str
) -> None:
    changes = {"phase": Phase.FAILED, "reason": reason, "cause": Cause(failure, "it ended")}
    without = why(made, record(**changes))["next"]["action"]
    assert without.startswith(f"none: {action}")
    assert "init_from" not in without
    assert ("nothing is saved" in without) == reason.startswith("Max")
    made.head("gpt-1", 1, "0000000040-0")
    assert GO_ON in why(made)["next"]["action"]
    made.put(record(plan=plan(total_steps=40), **changes))
    said = why(made)["next"]["action"]
    assert "step 40, the last one, is saved" in said
    assert "init_from" not in said, "it would be refused: no step would be left"
    watched = plan(checkpoint=CheckpointPlan(mode="watch"))
    said = why(made, record(plan=watched, **changes))["next"]["action"]
    assert "step 40 is saved: `phalanx checkpoints restore gpt-1 --to FOLDER`" in said
    assert "init_from" not in said, "mode watch refuses it"


def test_the_budget_is_the_reason_whatever_the_last_cause(made: MadeRoot) -> None:
    changes = {"phase": Phase.FAILED, "reason": "NoProgress", "cause": HANG}
    action = why(made, record(**changes))["next"]["action"]
    assert action.endswith(". Read the first causes in the history, and fix that one.")


def test_nobody_is_told_to_go_on_from_what_cannot_be_read(made: MadeRoot) -> None:
    made.head("gpt-1", 1, "0000000040-0")
    cause = Cause(FailureClass.CHECKPOINT_UNREADABLE, "0000000040-0 is torn")
    changes = {"phase": Phase.FAILED, "reason": cause.failure.value, "cause": cause}
    assert "init_from" not in why(made, record(**changes))["next"]["action"]


def test_a_stopped_job_says_how_to_go_on(made: MadeRoot) -> None:
    made.head("gpt-1", 1, "0000000040-0")
    view = why(made, record(phase=Phase.STOPPED, stop=StopRequest(T0)))
    assert view["next"]["action"] == f"none: the job was stopped; {GO_ON}"
    assert "the job was asked to stop, without a last save" in done(view)


def test_a_last_save_is_only_told_when_it_was_made(made: MadeRoot) -> None:
    keys, stopped = Keys("gpt-1"), record(phase=Phase.STOPPED, stop=StopRequest(T0, save=True))
    asked = "the job was asked to stop"
    assert f"{asked}; nothing tells of a last save" in done(why(made, stopped))
    older = Departure(stop_save(9), [])
    older.declined = "of an attempt that ended long ago"
    older.keep(made.store, keys, (0, 0, 0))
    assert f"{asked}; nothing tells of a last save" in done(why(made))
    saved, declined = Departure(stop_save(9), []), Departure(stop_save(9), [])
    saved.saved = SAVED
    saved.keep(made.store, keys, (0, 0, 1))
    assert f"{asked}, after a last save ({SAVED})" in done(why(made))
    declined.declined = "it did not hear of the commit"
    declined.keep(made.store, keys, (1, 0, 1))
    assert f"{asked}; the last save was declined: it did not hear of the commit" in done(why(made))
    made.head("gpt-1", 1, SAVED)
    assert f"{asked}, after a last save ({SAVED})" in done(why(made))
