"""Notices: all ranks save one step and nothing is lost, or the save is declined with a reason."""

from __future__ import annotations

import json
import os
import signal

import pytest

from phalanx.names import Keys
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from tests.support.gang import Gang
from tests.support.metadata_server import ACTION, ADVICE, MetadataServer, action_in
from tests.support.waiting import until


@pytest.fixture
def service(monkeypatch):
    with MetadataServer() as server:
        monkeypatch.setenv("PHALANX_METADATA", server.address)
        yield server


def outcomes(gang: Gang) -> dict[str, dict]:
    """Notice → what came of it."""
    store, keys = Store(FilesObjects.open(str(gang.root)), "tests"), Keys(gang.job)
    found = {}
    for name in store.list(keys.notices):
        kept = store.read(f"{keys.notices}/{name}")
        if kept is not None and name.endswith(".outcome"):
            found[name.removesuffix(".outcome")] = json.loads(kept.data)
    return found


def last_step(gang: Gang, attempt: int) -> int:
    """The step that every rank finished last in an attempt."""
    last = {
        max(line.step for line in gang.lines(rank) if line.attempt == attempt)
        for rank in range(gang.world_size)
    }
    assert len(last) == 1
    return last.pop()


def resumed_at(gang: Gang, attempt: int) -> int:
    """The step that every rank resumed from in an attempt."""
    resumed = {
        line.resumed
        for rank in range(gang.world_size)
        for line in gang.lines(rank)
        if line.attempt == attempt
    }
    assert len(resumed) == 1
    return resumed.pop()


def assert_nothing_was_lost(gang: Gang, attempt: int) -> None:
    """Between this attempt and the next."""
    assert resumed_at(gang, attempt + 1) == last_step(gang, attempt) + 1


def test_a_life_full_of_notices(new_gang, service):
    """Advice, a Spot notice with 120 s and one with 2 s to go, SIGTERM, a stop that saves."""
    gang = new_gang(nodes=2, ranks=2, steps=5000, step_s=0.03, every=10000).start()
    gang.reach(5)
    service.bodies[ADVICE] = '{"noticeTime": "2026-01-01T00:00:00Z"}'
    until(lambda: len(outcomes(gang)) == 2)
    del service.bodies[ADVICE]
    # Each agent asks for itself, so the two hear of it a moment apart: one save or two.
    saved = [str(outcome["saved"]) for outcome in outcomes(gang).values()]
    assert max(saved) == gang.head().checkpoint
    assert gang.status()["attempt"] == 0

    service.once[ACTION] = action_in(120)
    gang.reach(0, attempt=1)
    assert_nothing_was_lost(gang, 0)
    service.once[ACTION] = action_in(2)
    gang.reach(0, attempt=2)
    found = outcomes(gang)
    in_time, short = (
        next(said for name, said in found.items() if name.startswith("spot-") and name[-2:] == end)
        for end in ("-0", "-1")
    )
    assert in_time["declined"] is None
    assert in_time["saved"].endswith("-0")
    if short["saved"]:
        assert_nothing_was_lost(gang, 1)
    else:
        assert short["declined"]
        # A save that came too late for its agent may still be adopted by the next attempt.
        assert resumed_at(gang, 2) >= resumed_at(gang, 1)
    os.kill(gang.agent_pid(1), signal.SIGTERM)
    gang.reach(0, attempt=3)
    assert_nothing_was_lost(gang, 2)
    assert [cause[0] for cause in gang.causes()] == ["SpotInterruption"] * 2 + ["HostLost"]
    assert gang.causes()[2][1] == 1
    assert gang.status()["restarts"] == {"counted": 0, "uncounted": 3}
    assert "all ranks saved" in " ".join(item["says"] for item in gang.why()["evidence"])

    status = gang.call("stop", gang.job, "--save")
    assert status["phase"] == "Stopped", status
    assert status["checkpoint"]["step"] == last_step(gang, 3) + 1
    gang.assert_nothing_lives()


def test_a_save_that_cannot_fit_is_declined(counting):
    gang = counting(
        nodes=1,
        steps=40,
        every=5,
        extra="stop: {grace: 0.5s}\n",
        command=["env", "python", "train.py", "40", "0.02", "held=21"],
    )
    gang.start().reach(20)
    os.kill(gang.agent_pid(0), signal.SIGTERM)
    status = gang.wait(90)
    assert status["phase"] == "Succeeded", status
    (outcome,) = outcomes(gang).values()
    assert outcome["saved"] is None
    assert "before the deadline" in outcome["declined"]
    assert outcome["declined"] in status["history"][0]["first_cause"]["message"]
    gang.assert_nothing_lives()
