"""Tasks that run but give no sign."""

from __future__ import annotations

import pytest

from phalanx.clock import SECOND_NS
from phalanx.names import token
from phalanx.plan.job import JobPlan
from phalanx.reconcile.decision import Decision, Timing
from phalanx.reconcile.look import Look
from phalanx.reconcile.silence import silent_member
from phalanx.state.gang import Beat, End, Member, World
from phalanx.state.observed import Observed, ObservedTask, SeenBeat
from phalanx.state.record import Record, Seat
from phalanx.words import FailureClass, Outcome, Phase, TaskState

OPENED = 1000 * SECOND_NS
TIMING = Timing(silent_s=10.0)
PLAN = JobPlan(name="gpt", command=("python", "train.py"), nodes=4, start_timeout_s=600.0)


def member(slot: int) -> Member:
    return Member(slot, 0, 1, "127.0.0.1", 1, ranks=1)


def decide(
    age_s: float,
    *,
    slots: int = 4,
    there: tuple[int, ...] = (),
    done: tuple[int, ...] = (),
    beats: dict[int, float] | None = None,
    world: bool = False,
    state: TaskState = TaskState.RUNNING,
) -> Decision | None:
    """`there` have joined, `done` have ended well, `beats` are ages in seconds by slot."""
    seats = tuple(Seat(slot, launched_ns=1, seen_alive=True) for slot in range(slots))
    record = Record("gpt-1", PLAN, 0, attempt=1, attempt_opened_ns=OPENED, seats=seats)
    tokens = [token("gpt-1", slot, 0, 0) for slot in range(slots)]
    observed = Observed(
        tasks=tuple(ObservedTask("1", tokens[slot], slot, 0, 0, state) for slot in range(slots)),
        members=tuple(member(slot) for slot in there),
        world=World(1, tuple(member(slot) for slot in range(slots))) if world else None,
        ends=tuple(End(slot, 0, 1, Outcome.SUCCEEDED, at_ns=OPENED) for slot in done),
        beats=tuple(
            SeenBeat(Beat(slot, 0, 0), int(seconds * SECOND_NS))
            for slot, seconds in (beats or {}).items()
        ),
    )
    return silent_member(Look(record, observed, OPENED + int(age_s * SECOND_NS), TIMING))


@pytest.mark.parametrize(
    "words",
    [
        pytest.param({"age_s": 9, "there": (0, 1, 2), "beats": {3: 99}}, id="young attempt"),
        pytest.param({"age_s": 99, "there": (0, 1, 2), "beats": {3: 2}}, id="it beats"),
        pytest.param({"age_s": 99, "there": (0, 1, 2)}, id="it never beat: it still starts"),
        pytest.param({"age_s": 99, "there": (0, 1, 2, 3), "beats": {3: 99}}, id="it has joined"),
        pytest.param({"age_s": 99, "world": True, "beats": {3: 99}}, id="all at work"),
        pytest.param(
            {"age_s": 99, "there": (0, 1, 2), "beats": {3: 99}, "state": TaskState.STOPPED},
            id="its task has ended",
        ),
    ],
)
def test_nobody_is_called_silent(words: dict) -> None:
    assert decide(**words) is None


def test_one_silent_slot_moves_and_the_others_stay() -> None:
    decision = decide(11, there=(0, 1, 2), beats={0: 99, 3: 11})
    assert decision is not None
    record = decision.record
    assert [seat.incarnation for seat in record.seats] == [0, 0, 0, 1]
    assert (record.phase, record.attempt) == (Phase.RESTARTING, 2)
    (past,) = record.history
    assert (past.cause.failure, past.cause.slot) == (FailureClass.HOST_LOST, 3)
    assert "slot 3 gives no sign" in past.cause.message


def test_half_a_gang_is_not_most_of_it() -> None:
    decision = decide(11, there=(0, 1), beats={2: 11, 3: 11})
    assert decision is not None
    assert [seat.incarnation for seat in decision.record.seats] == [0, 0, 1, 1]


def test_most_are_silent_so_the_store_is_suspected_and_nobody_is_replaced() -> None:
    decision = decide(11, there=(0,), beats={1: 11, 2: 11, 3: 11})
    assert decision is not None
    assert decision.reason == "StoreUnreachable"
    assert "1, 2, 3" in decision.message
    assert [seat.incarnation for seat in decision.record.seats] == [0] * 4
    assert decision.record.attempt == 1


def test_the_start_time_out_ends_the_holding_back() -> None:
    decision = decide(601, there=(0,), beats={1: 601, 2: 601, 3: 601})
    assert decision is not None
    assert [seat.incarnation for seat in decision.record.seats] == [0, 1, 1, 1]


def test_a_gang_of_one_has_no_majority() -> None:
    decision = decide(11, slots=1, beats={0: 11})
    assert decision is not None
    assert decision.record.seats[0].incarnation == 1


@pytest.mark.parametrize(("age_s", "moved"), [(9, None), (11, [0, 0, 0, 1])])
def test_others_that_are_done_wait_for_a_silent_one(age_s: float, moved: list[int] | None) -> None:
    decision = decide(age_s, world=True, done=(0, 1, 2), beats={3: 99})
    assert (decision and [seat.incarnation for seat in decision.record.seats]) == moved
