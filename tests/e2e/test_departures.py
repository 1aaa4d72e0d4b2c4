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


def last_step(gang: Gang, rank: int, attempt: int = 0) -> int:
    return max(line.step for line in gang.lines(rank) if line.attempt == attempt)


def resumed_at(gang: Gang, rank: int) -> int:
    return gang.lines(rank)[-1].resumed


def assert_nothing_was_lost(gang: Gang) -> None:
    last = {last_step(gang, rank) for rank in range(gang.world_size)}
    assert len(last) == 1
    assert {resumed_at(gang, rank) for rank in range(gang.world_size)} == {last.pop() + 1}
    assert all(
        [line.step for line in gang.lines(rank)] == list(range(gang.steps))
        for rank in range(gang.world_size)
    )


def test_a_spot_notice_with_two_minutes_to_go(new_gang, service):
    gang = new_gang(nodes=2, ranks=2, steps=120, step_s=0.04, every=1000).start()
    gang.reach(10)
    service.once[ACTION] = action_in(120)
    status = gang.wait(90)
    assert status["phase"] == "Succeeded", status
    (past,) = status["history"]
    assert past["first_cause"]["class"] == "SpotInterruption"
    assert past["counted"] is False
    slot = past["first_cause"]["slot"]
    assert [task["incarnation"] for task in status["tasks"]] == [int(s == slot) for s in (0, 1)]
    assert_nothing_was_lost(gang)
    (outcome,) = outcomes(gang).values()
    assert outcome["declined"] is None
    assert outcome["saved"].endswith("-0")
    gang.assert_nothing_lives()


def test_advice_saves_and_a_notice_with_two_seconds_to_go(new_gang, service):
    gang = new_gang(nodes=2, ranks=2, steps=200, step_s=0.05, every=1000).start()
    gang.reach(10)
    service.bodies[ADVICE] = '{"noticeTime": "2026-01-01T00:00:00Z"}'
    until(lambda: len(outcomes(gang)) == 2)
    assert {outcome["saved"] for outcome in outcomes(gang).values()} == {gang.head().checkpoint}
    assert gang.status()["attempt"] == 0
    service.once[ACTION] = action_in(2)
    status = gang.wait(90)
    assert status["phase"] == "Succeeded", status
    assert [cause[0] for cause in gang.causes()] == ["SpotInterruption"]
    (outcome,) = [said for name, said in outcomes(gang).items() if name.startswith("spot-")]
    if outcome["saved"]:
        assert_nothing_was_lost(gang)
    else:
        assert outcome["declined"]
        assert len({resumed_at(gang, rank) for rank in range(4)}) == 1
    gang.assert_nothing_lives()


def test_sigterm_to_an_agent_and_then_a_stop_that_saves(new_gang):
    gang = new_gang(nodes=2, ranks=2, steps=2000, step_s=0.03, every=5000).start()
    gang.reach(10)
    os.kill(gang.agent_pid(1), signal.SIGTERM)
    gang.reach(20, attempt=1)
    assert gang.causes() == [("HostLost", 1, None)]
    assert {resumed_at(gang, rank) for rank in range(4)} == {last_step(gang, 0) + 1}
    status = gang.call("stop", gang.job, "--save")
    assert status["phase"] == "Stopped", status
    last = {last_step(gang, rank, attempt=1) for rank in range(4)}
    assert len(last) == 1
    assert status["checkpoint"]["step"] == last.pop() + 1
    gang.assert_nothing_lives()


def test_a_save_that_cannot_fit_is_declined(new_gang):
    gang = new_gang(nodes=1, ranks=2, steps=60, step_s=0.03, every=5, extra="stop: {grace: 0.2s}\n")
    gang.start().reach(20)
    os.kill(gang.agent_pid(0), signal.SIGTERM)
    status = gang.wait(90)
    assert status["phase"] == "Succeeded", status
    (outcome,) = outcomes(gang).values()
    assert outcome["saved"] is None
    assert "before the deadline" in outcome["declined"]
    assert outcome["declined"] in status["history"][0]["first_cause"]["message"]
    gang.assert_nothing_lives()
