"""Which messages a job owes: the same names whoever looks, and whenever."""

from __future__ import annotations

import pytest

from phalanx.frozen import replace
from phalanx.plan.job import Receiver
from phalanx.reconcile.telling import due
from phalanx.state.messages import Message
from phalanx.state.record import Cause, PastAttempt, Record
from phalanx.words import FailureClass, Phase
from tests.support.records import record, seconds

ALL = ("ended", "failed", "waiting", "restarted", "limit")


def told(*on: str, waiting_s: float = 600.0, **changes: object) -> Record:
    job = record(**changes)
    receiver = Receiver("webhook", ("https://x.test/",), on, waiting_s)
    return replace(job, plan=replace(job.plan, notify=(receiver,)))


def owed(job: Record, at_s: float = 1.0, *, has_world: bool = True) -> list[tuple[str, str]]:
    return [(m.name, m.event) for m in due(job, has_world=has_world, now_ns=seconds(at_s))]


@pytest.mark.parametrize(
    ("phase", "on", "expected"),
    [
        (Phase.SUCCEEDED, ("ended", "failed"), [("ended-0", "ended")]),
        (Phase.STOPPED, ("ended",), [("ended-0", "ended")]),
        (Phase.FAILED, ("ended", "failed"), [("ended-0", "failed")]),
        (Phase.FAILED, ("ended",), [("ended-0", "failed")]),
        (Phase.FAILED, ("failed",), [("ended-0", "failed")]),
        (Phase.SUCCEEDED, ("failed",), []),
        (Phase.STOPPED, ("failed",), []),
        (Phase.STOPPING, ("ended", "failed"), []),
        (Phase.PAUSED, ALL, []),
    ],
)
def test_the_end_of_a_job_is_told_once(
    phase: Phase, on: tuple[str, ...], expected: list[tuple[str, str]]
) -> None:
    ending = None if phase is not Phase.PAUSED else Phase.PAUSED
    assert owed(told(*on, phase=phase, ending=ending, ended_ns=seconds(9))) == expected


def test_every_message_carries_job_phase_reason_and_sentence() -> None:
    job = told("ended", phase=Phase.FAILED, reason="MaxRuntime", message="ran long", attempt=2)
    job = replace(job, ended_ns=seconds(9))
    (message,) = due(job, has_world=True, now_ns=seconds(10))
    assert message == Message(
        "ended-0", 0, "failed", "Failed", "MaxRuntime", "ran long", 2, seconds(9)
    )


def test_a_wait_is_told_once_it_is_long_enough_and_only_without_a_world() -> None:
    job = told("waiting", waiting_s=60)
    assert owed(job, 59, has_world=False) == []
    assert owed(job, 61, has_world=True) == []
    first = owed(job, 61, has_world=False)
    assert [event for _, event in first] == ["waiting"]
    assert owed(job, 9999, has_world=False) == first


def test_another_wait_is_another_message() -> None:
    job = told("waiting", waiting_s=60)
    later = replace(job, waiting_since_ns=seconds(500))
    assert owed(later, 559, has_world=False) == []
    assert owed(later, 561, has_world=False) != owed(job, 561, has_world=False)


def test_a_job_that_is_being_ended_waits_for_nothing() -> None:
    job = told("waiting", waiting_s=1, phase=Phase.STOPPING, ending=Phase.FAILED)
    assert owed(job, 99, has_world=False) == []


def test_restarts_are_told_each_with_its_cause_and_pauses_are_not() -> None:
    killed = Cause(FailureClass.KILLED, "rank 1 was killed")
    paused = Cause(FailureClass.STOPPED_BY_USER, "paused")
    past = (
        PastAttempt(0, seconds(5), killed, True),
        PastAttempt(1, seconds(6), paused, False),
        PastAttempt(2, seconds(7), killed, True),
    )
    job = told("restarted", attempt=2, history=past)
    (message,) = due(job, has_world=True, now_ns=seconds(8))
    assert (message.name, message.reason, message.attempt) == ("restarted-1-0", "Killed", 1)
    assert "rank 1 was killed" in message.message
    assert len(owed(replace(job, attempt=3))) == 2


def test_limits_are_told_once_each() -> None:
    job = told("limit", warned=("max_runtime", "max_instance_hours"))
    assert [name for name, _ in owed(job)] == ["limit-max_runtime-0", "limit-max_instance_hours-0"]


def test_each_receiver_has_messages_of_its_own() -> None:
    job = told("ended", phase=Phase.SUCCEEDED, ended_ns=seconds(9))
    both = replace(job, plan=replace(job.plan, notify=job.plan.notify * 2))
    assert [name for name, _ in owed(both)] == ["ended-0", "ended-1"]
