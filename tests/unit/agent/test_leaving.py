"""What an agent decides that is asked to leave: save first where that makes sense, then go."""

from __future__ import annotations

from typing import Any

import pytest

from phalanx.agent.protocol import (
    Leave,
    Me,
    Move,
    Ranks,
    SaveFirst,
    Seen,
    StopRanks,
    Wait,
    WriteEnd,
    decide,
)
from phalanx.frozen import replace
from phalanx.names import token
from phalanx.plan.job import JobPlan
from phalanx.state.gang import End, Member, World
from phalanx.state.record import Record, Seat, StopRequest
from phalanx.words import FailureClass, Outcome, Phase

PLAN = JobPlan(name="gpt", command=("python", "train.py"), nodes=2)
RECORD = Record("gpt-1", PLAN, 0, attempt=1, seats=(Seat(0), Seat(1)))
ME = Me(1, 0, token("gpt-1", 1, 0, 0), attempt=1)
RUNNING = replace(ME, ranks=Ranks.RUNNING)
WORLD = World(1, tuple(Member(slot, 0, 1, "127.0.0.1", 1, ranks=1) for slot in (0, 1)))
OWN_END = End(1, 0, 1, Outcome.STOPPED)
OTHER_SUCCEEDED = End(0, 0, 1, Outcome.SUCCEEDED)
OTHER_FAILED = End(0, 0, 1, Outcome.FAILED)


def seen(*ends: End, record: Record | None = RECORD) -> Seen:
    return Seen(record, world=WORLD, ends=ends)


def ending(phase: Phase, *, save: bool = False) -> Record:
    return replace(RECORD, ending=phase, stop=StopRequest(5, save=save))


def asked(me: Me, **changes: Any) -> Me:
    return replace(me, asked_to_leave=True, **changes)


@pytest.mark.parametrize(
    ("me", "sight", "kind"),
    [
        (RUNNING, seen(), Wait),
        (asked(RUNNING), seen(), SaveFirst),
        (asked(RUNNING), seen(OTHER_SUCCEEDED), SaveFirst),
        (asked(RUNNING), seen(OTHER_FAILED), StopRanks),
        (asked(RUNNING, save_settled=True), seen(), StopRanks),
        (asked(RUNNING, attempt=0), seen(), StopRanks),
        (asked(RUNNING), seen(record=None), StopRanks),
        (asked(ME), seen(), Leave),
        (asked(replace(ME, ranks=Ranks.STOPPING)), seen(), Wait),
        (asked(replace(ME, ranks=Ranks.ENDED, end=OWN_END)), seen(), WriteEnd),
        (asked(replace(ME, ranks=Ranks.ENDED, end=OWN_END)), seen(OWN_END), Leave),
        (asked(replace(ME, ranks=Ranks.ENDED, end=OWN_END, attempt=0)), seen(), Leave),
        (RUNNING, seen(record=ending(Phase.STOPPED, save=True)), SaveFirst),
        (RUNNING, seen(record=ending(Phase.STOPPED, save=False)), StopRanks),
        (RUNNING, seen(record=ending(Phase.FAILED, save=True)), StopRanks),
        (
            replace(RUNNING, save_settled=True),
            seen(record=ending(Phase.STOPPED, save=True)),
            StopRanks,
        ),
        (asked(RUNNING), seen(record=ending(Phase.STOPPED, save=False)), StopRanks),
    ],
)
def test_the_next_move(me: Me, sight: Seen, kind: type[Move]) -> None:
    assert isinstance(decide(me, sight, 0), kind)


def test_a_superseded_task_never_saves_for_its_departure() -> None:
    moved = replace(RECORD, seats=(Seat(0), Seat(1, 1)))
    move = decide(asked(RUNNING), seen(record=moved), 0)
    assert isinstance(move, StopRanks)
    assert "superseded" in move.why
    assert not move.by_user


@pytest.mark.parametrize("is_hang", [True, False])
def test_ranks_that_are_stopped_because_of_a_hang_are_evidence(is_hang: bool) -> None:
    failure = FailureClass.HANG if is_hang else None
    move = decide(RUNNING, seen(replace(OTHER_FAILED, failure=failure)), 0)
    assert isinstance(move, StopRanks)
    assert move.is_hang is is_hang


def test_only_a_stop_by_the_user_or_a_departure_gives_the_script_its_grace() -> None:
    by_user = {
        decide(asked(RUNNING, save_settled=True), seen(), 0).by_user,  # type: ignore[union-attr]
        decide(RUNNING, seen(record=ending(Phase.STOPPED)), 0).by_user,  # type: ignore[union-attr]
    }
    assert by_user == {True}
    failed = decide(RUNNING, seen(record=ending(Phase.FAILED)), 0)
    assert isinstance(failed, StopRanks)
    assert not failed.by_user
