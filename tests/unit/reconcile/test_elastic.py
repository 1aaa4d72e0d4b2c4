"""A range of nodes: who is given up, who steps in, when the world grows again."""

from __future__ import annotations

import pytest

from phalanx.clock import SECOND_NS
from phalanx.frozen import replace
from phalanx.reconcile import elastic, failure, seating
from phalanx.reconcile.decision import Decision, Launch
from phalanx.reconcile.reconcile import reconcile
from phalanx.state.gang import Beat, Head, LedgerEntry, World
from phalanx.state.observed import Observed, ObservedTask, SeenBeat
from phalanx.state.record import Record, Seat
from phalanx.words import FailureClass, TaskState
from tests.support.records import T0, look, member, record, seconds, task

TASKS = tuple(task(slot) for slot in range(4))


def job(*parked: int, low: int = 2, **changes: object) -> Record:
    """Four slots, two of which can be missed."""
    made = record(4, **changes)
    plan = replace(made.plan, min_nodes=low)
    seats = tuple(
        replace(s, parked=True, falls=1, since_ns=T0) if s.slot in parked else s for s in made.seats
    )
    return replace(made, plan=plan, seats=seats)


def there(*slots: int, attempt: int = 0) -> dict[str, object]:
    """Tasks of these slots run and have joined."""
    return {
        "tasks": tuple(TASKS[slot] for slot in slots),
        "members": tuple(member(slot, attempt) for slot in slots),
        "beats": tuple(SeenBeat(Beat(slot, 0, attempt), SECOND_NS) for slot in slots),
    }


def shrunk(*parked: int) -> World:
    return World(0, tuple(member(slot) for slot in range(4) if slot not in parked))


def opened(decision: Decision | None) -> Record:
    assert decision is not None
    assert decision.record.attempt == 1
    assert decision.record.history[-1].cause.failure is FailureClass.RESIZED
    return decision.record


class TestLastCall:
    def test_a_fixed_job_never_calls(self) -> None:
        fixed = record(4)
        assert elastic.last_call(look(fixed, Observed(**there(0, 1)), at_s=1000)) is None

    def test_too_few_are_waited_for(self) -> None:
        assert elastic.last_call(look(job(), Observed(**there(0)), at_s=1000)) is None

    def test_enough_are_noted_and_the_others_get_a_last_call(self) -> None:
        decision = elastic.last_call(look(job(), Observed(**there(0, 3)), at_s=5))
        assert decision is not None
        assert decision.record.quorum_ns == seconds(5)
        assert decision.record.attempt == 0
        assert decision.message == "2 of 4 nodes are ready; 10 s more for slots 1, 2"

    def test_a_gang_that_comes_together_at_once_is_not_disturbed(self) -> None:
        assert elastic.last_call(look(job(), Observed(**there(0, 3)), at_s=0.5)) is None

    def test_after_the_last_call_it_goes_on_without_them(self) -> None:
        called = job(quorum_ns=seconds(5), uncounted=0, fruitless=2)
        early = elastic.last_call(look(called, Observed(**there(0, 3)), at_s=14.9))
        assert early is None
        new = opened(elastic.last_call(look(called, Observed(**there(0, 3)), at_s=15)))
        assert [seat.slot for seat in new.active] == [0, 3]
        assert [seat.incarnation for seat in new.seats] == [0, 0, 0, 0]
        assert (new.counted, new.uncounted, new.fruitless, new.spent) == (0, 1, 2, ())
        assert (new.resized_ns, new.quorum_ns) == (seconds(15), None)
        assert "last_call (10 s)" in new.seats[1].because

    def test_a_ready_standby_takes_the_place_of_who_does_not_come(self) -> None:
        called = job(3, quorum_ns=seconds(5))
        new = opened(elastic.last_call(look(called, Observed(**there(0, 1, 3)), at_s=60)))
        assert [seat.slot for seat in new.active] == [0, 1, 3]
        assert new.resized_ns == 0


class TestLoss:
    def gone(self, slot: int, **changes: object) -> ObservedTask:
        return task(slot, TaskState.STOPPED, exit_code=137, reason="killed", **changes)

    def test_a_task_that_ends_before_any_world_is_done_without(self) -> None:
        observed = Observed(tasks=(*TASKS[:3], self.gone(3)))
        new = opened(elastic.stillborn(look(job(), observed)))
        assert [seat.slot for seat in new.active] == [0, 1, 2]
        assert (new.seats[3].incarnation, new.seats[3].launched_ns) == (1, None)

    def test_too_few_others_make_it_an_ordinary_loss(self) -> None:
        observed = Observed(tasks=(TASKS[0], *(self.gone(slot) for slot in (1, 2, 3))))
        assert elastic.stillborn(look(job(), observed)) is None
        decision = failure.failed_attempt(look(job(), observed))
        assert decision is not None
        assert len(decision.record.active) == 4

    def test_a_loss_in_a_world_is_replaced_at_first(self) -> None:
        observed = Observed(tasks=(*TASKS[:3], self.gone(3)), world=shrunk())
        assert elastic.stillborn(look(job(), observed)) is None
        decision = reconcile(job(), observed, seconds(1000))
        assert decision.record.history[-1].cause.failure is FailureClass.KILLED
        assert len(decision.record.active) == 4
        assert (decision.record.seats[3].falls, decision.record.seats[3].incarnation) == (1, 1)

    def test_a_slot_that_is_lost_again_soon_is_given_up_at_once(self) -> None:
        fell = job()
        seats = (*fell.seats[:3], replace(fell.seats[3], falls=1, since_ns=seconds(900)))
        observed = Observed(tasks=(*TASKS[:3], self.gone(3)), world=shrunk())
        decision = reconcile(replace(fell, seats=seats), observed, seconds(1000))
        assert [seat.slot for seat in decision.record.active] == [0, 1, 2]
        assert decision.record.seats[3].falls == 2
        assert decision.record.resized_ns == seconds(1000)

    def test_a_standby_steps_in_and_the_size_stays(self) -> None:
        seen = there(0, 1, 3)
        seen["tasks"] = (TASKS[0], self.gone(1), TASKS[3])
        decision = reconcile(job(2, 3), Observed(**seen, world=shrunk(2, 3)), seconds(1000))
        assert decision.record.history[-1].cause.failure is FailureClass.KILLED
        assert [seat.slot for seat in decision.record.active] == [0, 3]
        assert decision.record.resized_ns == 0

    def test_a_slot_without_room_is_no_attempt_in_vain(self) -> None:
        made = job(low=4)
        empty = replace(made.seats[3], seen_alive=False, because="no instance has room")
        waiting = replace(made, seats=(*made.seats[:3], empty), fruitless=1)
        decision = failure.failed_attempt(look(waiting, Observed(tasks=TASKS[:3]), at_s=100))
        assert decision is not None
        assert decision.record.fruitless == 1
        cause = decision.record.history[-1].cause
        assert cause.failure is FailureClass.CAPACITY_UNAVAILABLE
        assert "no instance has room" in cause.message


class TestStandbys:
    def parked(self, **changes: object) -> Record:
        made = job(3)
        seat = Seat(3, 1, parked=True, falls=2, since_ns=T0)
        return replace(made, seats=(*made.seats[:3], replace(seat, **changes)))

    def test_a_slot_is_tried_again_once_its_wait_is_over(self) -> None:
        observed = Observed(tasks=TASKS[:3], world=shrunk(3))
        assert elastic.standbys(look(self.parked(), observed, at_s=14.9)) is None
        decision = elastic.standbys(look(self.parked(), observed, at_s=15))
        assert decision is not None
        assert [a.seat for a in decision.actions if isinstance(a, Launch)] == [
            decision.record.seats[3]
        ]
        assert decision.record.seats[3].launched_ns == seconds(15)
        assert (decision.record.attempt, decision.record.seats[3].parked) == (0, True)

    def test_a_try_that_came_to_nothing_makes_the_next_wait_longer(self) -> None:
        tried = self.parked(launched_ns=seconds(20), seen_alive=True)
        dead = task(3, TaskState.STOPPED, 1, reason="disk full")
        observed = Observed(tasks=(*TASKS[:3], dead), world=shrunk(3))
        decision = elastic.standbys(look(tried, observed, at_s=30))
        assert decision is not None
        after = decision.record.seats[3]
        assert (after.incarnation, after.falls, after.launched_ns) == (2, 3, None)
        assert after.because == "its task ended: disk full"
        assert seating.retry_s(after.falls) == 2 * seating.retry_s(2)

    def test_one_that_lived_long_begins_the_row_anew(self) -> None:
        tried = self.parked(launched_ns=seconds(20), seen_alive=True, falls=4)
        observed = Observed(tasks=TASKS[:3], world=shrunk(3))
        decision = elastic.standbys(look(tried, observed, at_s=4000))
        assert decision is not None
        assert decision.record.seats[3].falls == 1

    def test_one_that_never_gets_ready_is_replaced(self) -> None:
        tried = self.parked(launched_ns=seconds(20), seen_alive=True)
        observed = Observed(tasks=(*TASKS[:3], task(3, incarnation=1)), world=shrunk(3))
        assert elastic.standbys(look(tried, observed, at_s=1000)) is None
        decision = elastic.standbys(look(tried, observed, at_s=2000))
        assert decision is not None
        assert decision.record.seats[3].incarnation == 2

    def test_a_hidden_one_is_asked_for_again_whatever_else_is_decided(self) -> None:
        tried = self.parked(launched_ns=seconds(20))
        observed = Observed(tasks=TASKS[:3], world=shrunk(3))
        decision = reconcile(tried, observed, seconds(25))
        assert [a.seat.slot for a in decision.actions if isinstance(a, Launch)] == [3]
        assert decision.reason == "RunningWithFewer"

    def test_waits_grow_and_have_an_end(self) -> None:
        waits = [seating.retry_s(n) for n in range(30)]
        assert waits[:5] == [0.0, 0.0, 15.0, 30.0, 60.0]
        assert waits == sorted(waits)
        assert waits[-1] == seating.RETRY_MAX_S


class TestGrowth:
    def sight(self, head: str | None = None, **changes: object) -> Observed:
        made = Observed(**there(0, 1, 2, 3), world=shrunk(3), head=Head(0, head))
        return replace(made, **changes)

    def test_a_ready_slot_waits_for_the_next_commit(self) -> None:
        wish = elastic.grow(look(job(3), self.sight(), at_s=100))
        assert wish is not None
        assert (wish.record.growing, wish.record.attempt) == ("", 0)
        assert elastic.grow(look(wish.record, self.sight(), at_s=101)) is None
        done = elastic.grow(look(wish.record, self.sight("0000000010-0"), at_s=102))
        new = opened(done)
        assert len(new.active) == 4
        assert (new.head_at_open, new.growing, new.fruitless) == ("0000000010-0", None, 0)
        assert new.resized_ns == seconds(102)
        assert [seat.incarnation for seat in new.seats] == [0, 0, 0, 0]

    def test_gang_scope_gives_all_others_new_tasks(self) -> None:
        wish = job(3, growing="")
        gang = replace(wish, plan=replace(wish.plan, restart_scope="gang"))
        new = opened(elastic.grow(look(gang, self.sight("0000000010-0"), at_s=102)))
        assert [seat.incarnation for seat in new.seats] == [1, 1, 1, 0]
        assert [seat.falls for seat in new.seats] == [0, 0, 0, 1]

    @pytest.mark.parametrize(
        "changes",
        [
            {"beats": ()},
            {"members": ()},
            {"tasks": TASKS[:3]},
            {"tasks": (*TASKS[:3], task(3, TaskState.STOPPING))},
            {"beats": (SeenBeat(Beat(3, 0, 0), 60 * SECOND_NS),)},
        ],
    )
    def test_a_slot_that_is_not_ready_is_not_waited_for(self, changes: dict[str, object]) -> None:
        assert elastic.grow(look(job(3), self.sight(**changes), at_s=100)) is None

    def test_a_wish_goes_when_nobody_is_ready_any_more(self) -> None:
        gone = elastic.grow(look(job(3, growing="x"), self.sight(beats=()), at_s=100))
        assert gone is not None
        assert gone.record.growing is None

    def test_nobody_comes_back_for_the_end(self) -> None:
        wish = job(3, growing="")
        assert elastic.grow(look(wish, self.sight("0000000100-0"), at_s=102)) is None

    def test_a_commit_of_an_older_attempt_is_no_commit(self) -> None:
        wish = job(3, growing="", attempt=2)
        seen = self.sight("0000000010-1", members=(member(3, 2),), world=replace(shrunk(3)))
        assert elastic.grow(look(wish, replace(seen, head=Head(1, "0000000010-1")))) is None

    def test_sizes_are_ten_restarts_apart(self) -> None:
        recent = job(3, resized_ns=seconds(0))
        entry = LedgerEntry(0, 0, 0, T0, 0, restart_ns=9 * SECOND_NS, first_step=0, last_step=3)
        slow = (*self.sight().beats, SeenBeat(Beat(0, 0, 0, entry=entry), 0))
        early = look(recent, self.sight(beats=slow), at_s=89)
        assert elastic.grow_after_s(early) == 90
        assert elastic.grow(early) is None
        assert elastic.grow(look(recent, self.sight(beats=slow), at_s=90)) is not None

    def test_or_as_the_job_file_says_and_never_closer_than_the_floor(self) -> None:
        named = job(3)
        named = replace(named, plan=replace(named.plan, grow_after_s=2.0))
        assert elastic.grow_after_s(look(named, self.sight())) == 2.0
        assert elastic.grow_after_s(look(job(3), self.sight())) == 30.0


def test_people_are_told_what_runs_and_why() -> None:
    short = job(2, 3)
    idle = [Seat(slot, 1, parked=True, falls=2, since_ns=T0) for slot in (2, 3)]
    seats = (*short.seats[:2], idle[0], replace(idle[1], because="no instance has room"))
    observed = Observed(tasks=TASKS[:2], world=shrunk(2, 3))
    decision = reconcile(replace(short, seats=seats), observed, seconds(1))
    assert decision.reason == "RunningWithFewer"
    assert decision.message == (
        "running with 2 of 4 nodes: slot 2: given up for now; slot 3: no instance has room"
    )
