"""Pause and resume as requests in the record, and what is refused with one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import phalanx
from phalanx.app import api
from phalanx.app.jobs import load
from phalanx.app.rest import request_pause, request_resume
from phalanx.app.revive import revive
from phalanx.errors import InputError, SpecError
from phalanx.state.record import PauseRequest, StopRequest
from phalanx.words import Phase
from tests.support.made_root import T0, MadeRoot, ended_job, record, running_job

PAUSE = PauseRequest(T0)


@pytest.fixture
def made(tmp_path: Path) -> MadeRoot:
    return MadeRoot(tmp_path / "root")


def resting(made: MadeRoot, **changes: object) -> None:
    values: dict[str, object] = {"phase": Phase.PAUSED, "ending": Phase.PAUSED, "pause": PAUSE}
    made.put(record(**{**values, "paused_since_ns": T0, "sweeps": 2, **changes}))


def test_pause_asks_and_gives_up_after_its_timeout(made: MadeRoot) -> None:
    running_job(made)
    view = phalanx.pause("gpt-1", root=str(made.path), timeout_s=0)
    assert (view["schema"], view["phase"]) == ("phalanx.status/1", "Running")
    asked = load(made.root, "gpt-1").record.pause
    assert asked is not None
    assert asked.reason == "phalanx.pause"


def test_pausing_twice_changes_nothing(made: MadeRoot) -> None:
    running_job(made)
    first = request_pause(load(made.root, "gpt-1"), reason="one")
    second = request_pause(first, reason="two")
    assert second.record == first.record


def test_resume_takes_the_request_away_and_starts_a_controller(made: MadeRoot) -> None:
    resting(made)
    started: list[str] = []
    view = phalanx.resume(
        "gpt-1", root=str(made.path), timeout_s=0, ensure=lambda _, job: started.append(job)
    )
    assert view["phase"] == "Paused"
    assert load(made.root, "gpt-1").record.pause is None
    assert set(started) == {"gpt-1"}


def test_resume_of_a_job_that_goes_on_already_is_no_error(made: MadeRoot) -> None:
    resting(made, pause=None)
    job = load(made.root, "gpt-1")
    assert request_resume(job) == job


def test_a_pause_may_be_taken_back_before_the_job_rests(made: MadeRoot) -> None:
    resting(made, phase=Phase.STOPPING)
    assert request_resume(load(made.root, "gpt-1")).record.pause is None


def test_resume_of_a_running_job_is_refused(made: MadeRoot) -> None:
    running_job(made)
    with pytest.raises(InputError) as caught:
        request_resume(load(made.root, "gpt-1"))
    assert caught.value.line() == (
        "gpt-1 is not paused: it is Running (`phalanx status gpt-1` says more)"
    )


@pytest.mark.parametrize("request_of", [request_pause, request_resume])
def test_neither_helps_a_job_that_has_ended_or_is_being_ended(made: MadeRoot, request_of) -> None:
    ended_job(made)
    with pytest.raises(InputError, match="gpt-1 has ended: Succeeded"):
        request_of(load(made.root, "gpt-1"))
    resting(made, stop=StopRequest(T0))
    with pytest.raises(InputError, match="gpt-1 is being ended"):
        request_of(load(made.root, "gpt-1"))


def test_reading_a_job_at_rest_starts_nobody_before_it_is_swept(made: MadeRoot) -> None:
    started: list[str] = []
    resting(made)
    assert revive(load(made.root, "gpt-1"), lambda _, job: started.append(job)) == ""
    assert started == []
    resting(made, sweeps=1)
    revive(load(made.root, "gpt-1"), lambda _, job: started.append(job))
    resting(made, stop=StopRequest(T0))
    revive(load(made.root, "gpt-1"), lambda _, job: started.append(job))
    assert started == ["gpt-1"] * 2


def test_why_and_status_of_a_job_at_rest(made: MadeRoot) -> None:
    resting(made)
    root, ensure = str(made.path), lambda _, job: None
    why = api.why("gpt-1", root=root, ensure=ensure)
    assert why["next"]["action"] == "none before `phalanx resume gpt-1`; then on from step 0"
    assert "the job was asked to pause; nothing tells of a last save" in [
        done["says"] for done in why["done"]
    ]
    status = api.status("gpt-1", root=root, ensure=ensure)
    assert {task["state"] for task in status["tasks"]} == {"stopped"}
    resting(made, pause=None)
    assert api.why("gpt-1", root=root, ensure=ensure)["next"]["action"].startswith("open attempt 2")


def test_a_program_to_be_told_must_be_there(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    words = json.dumps(["no-such-program", "--loud"])
    file.write_text(f"kind: train\nname: a\ncommand: ['true']\nnotify: [{{command: {words}}}]\n")
    with pytest.raises(SpecError) as caught:
        api.run(str(file), root=str(tmp_path / "root"), ensure=lambda _, job: None)
    assert ":4:21: notify[0].command: the program 'no-such-program'" in caught.value.line()
    assert not (tmp_path / "root" / "jobs").exists()
