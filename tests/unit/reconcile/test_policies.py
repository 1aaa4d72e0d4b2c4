"""One table per policy: what was seen, and what is decided."""

from __future__ import annotations

import pytest

from phalanx.frozen import replace
from phalanx.plan.job import CheckpointPlan
from phalanx.reconcile import deadlines, ending, failure, launch, silence, steady, success
from phalanx.reconcile.decision import Clean, Launch, Stop
from phalanx.reconcile.reconcile import reconcile
from phalanx.state.gang import Beat, Head
from phalanx.state.observed import Observed, SeenBeat
from phalanx.state.record import StopRequest
from phalanx.words import FailureClass, Outcome, Phase, TaskState
from tests.support.records import (
    T0,
    end,
    look,
    member,
    record,
    rules,
    seconds,
    task,
    world,
)

RUNNING = (task(0), task(1))


class TestLaunch:
    def test_missing_seats_are_launched_with_their_intent_saved(self) -> None:
        decision = launch.launch_missing(look(record(launched=False), Observed()))
        assert decision is not None
        assert [a.seat.slot for a in decision.actions if isinstance(a, Launch)] == [0, 1]
        assert all(s.launched_ns == seconds(1) for s in decision.record.seats)
        assert decision.reason == "Launching"

    def test_a_hidden_task_is_asked_for_again_only_after_a_while(self) -> None:
        job = record(seats=tuple(replace(s, seen_alive=False) for s in record().seats))
        early = launch.launch_missing(look(job, Observed(), at_s=1.0))
        late = launch.launch_missing(look(job, Observed(), at_s=3.0))
        assert early is not None
        assert late is not None
        assert early.actions == ()
        assert len(late.actions) == 2
        assert late.record.seats == job.seats

    def test_a_slot_waits_for_its_old_task(self) -> None:
        seats = record(launched=False, attempt=1).seats
        job = record(seats=(replace(seats[0], incarnation=1), record().seats[1]))
        decision = reconcile(job, Observed(tasks=RUNNING), seconds(1))
        assert decision.reason == "StoppingOld"
        assert [a.task.slot for a in decision.actions if isinstance(a, Stop)] == [0]
        assert not any(isinstance(a, Launch) for a in decision.actions)

    def test_and_not_without_end(self) -> None:
        seats = record(launched=False).seats
        job = record(seats=(replace(seats[0], incarnation=1), record().seats[1]))
        decision = reconcile(job, Observed(tasks=RUNNING), seconds(3600))
        assert [type(a) for a in decision.actions] == [Stop, Launch]

    def test_a_stray_is_stopped_whatever_else_is_decided(self) -> None:
        observed = Observed(tasks=(*RUNNING, task(1, incarnation=7)), world=world())
        decision = reconcile(record(), observed, seconds(1))
        assert decision.reason == "Training"
        assert [a.task.incarnation for a in decision.actions if isinstance(a, Stop)] == [7]

    def test_seats_seen_alive_are_remembered(self) -> None:
        job = record(seats=tuple(replace(s, seen_alive=False) for s in record().seats))
        decision = launch.note_alive(look(job, Observed(tasks=(task(1),))))
        assert decision is not None
        assert [s.seen_alive for s in decision.record.seats] == [False, True]
        assert launch.note_alive(look(decision.record, Observed(tasks=(task(1),)))) is None


class TestFailure:
    def test_a_lost_task_gives_its_slot_to_a_new_incarnation(self) -> None:
        gone = task(0, TaskState.STOPPED, exit_code=137, reason="killed")
        decision = failure.failed_attempt(look(record(), Observed(tasks=(gone, task(1)))))
        assert decision is not None
        assert decision.record.attempt == 1
        assert [s.incarnation for s in decision.record.seats] == [1, 0]
        assert [s.launched_ns for s in decision.record.seats] == [None, T0]

    def test_a_survivor_keeps_its_seat_when_a_rank_dies(self) -> None:
        ends = (end(0, Outcome.FAILED, exit_code=-9),)
        decision = failure.failed_attempt(look(record(), Observed(tasks=RUNNING, ends=ends)))
        assert decision is not None
        assert [s.incarnation for s in decision.record.seats] == [0, 0]
        assert decision.record.history[0].cause.failure is FailureClass.KILLED

    def test_restart_scope_gang_replaces_everybody(self) -> None:
        job = record(plan=replace(record().plan, restart_scope="gang"))
        ends = (end(0, Outcome.FAILED, exit_code=-9),)
        decision = failure.failed_attempt(look(job, Observed(tasks=RUNNING, ends=ends)))
        assert decision is not None
        assert [s.incarnation for s in decision.record.seats] == [1, 1]

    def test_an_echo_waits_for_its_cause(self) -> None:
        failed = end(0, Outcome.FAILED, exit_code=1)
        rank = replace(failed.ranks[0], error="RuntimeError: Connection closed by peer")
        observed = Observed(tasks=RUNNING, ends=(replace(failed, ranks=(rank,)),))
        early = failure.failed_attempt(look(record(), observed, at_s=0.5))
        late = failure.failed_attempt(look(record(), observed, at_s=1.5))
        assert early is not None
        assert late is not None
        assert (early.reason, early.record.attempt) == ("Settling", 0)
        assert (late.reason, late.record.attempt) == ("NetworkFault", 1)

    def test_a_departure_opens_the_next_attempt_too(self) -> None:
        observed = Observed(tasks=RUNNING, ends=(end(0, Outcome.STOPPED, exit_code=-15),))
        decision = failure.failed_attempt(look(record(), observed, at_s=60))
        assert decision is not None
        assert decision.record.attempt == 1

    def test_an_end_without_a_seat_is_nobodys(self) -> None:
        stale = end(0, Outcome.FAILED, exit_code=1, incarnation=9)
        old = end(1, Outcome.FAILED, exit_code=1, attempt=7)
        observed = Observed(tasks=RUNNING, ends=(stale, old), world=world())
        assert failure.failed_attempt(look(record(), observed)) is None

    def test_a_task_that_ends_after_its_ranks_succeeded_is_not_lost(self) -> None:
        observed = Observed(
            tasks=(task(0, TaskState.STOPPED, exit_code=0), task(1)), ends=(end(0),), world=world()
        )
        assert failure.failed_attempt(look(record(), observed)) is None

    def test_a_world_with_somebody_who_lost_the_seat_is_given_up(self) -> None:
        foreign = world(members=(member(0), member(1, incarnation=5)))
        decision = failure.failed_attempt(look(record(), Observed(tasks=RUNNING, world=foreign)))
        assert decision is not None
        assert decision.reason == FailureClass.SUPERSEDED.value
        assert decision.record.attempt == 1


class TestRestartRules:
    killed = Observed(tasks=RUNNING, ends=(end(0, Outcome.FAILED, exit_code=-9),))

    def decide(self, **changes: object) -> object:
        job = record()
        plan = {k: v for k, v in changes.items() if k in ("restart", "no_progress")}
        rest = {k: v for k, v in changes.items() if k not in plan}
        job = replace(job, plan=replace(job.plan, **plan), **rest)
        return failure.failed_attempt(look(job, self.killed))

    def test_a_rule_that_says_fail_fails(self) -> None:
        decision = self.decide(restart=(rules(FailureClass.KILLED, do="fail"),))
        assert decision.record.ending is Phase.FAILED
        assert decision.record.cause.failure is FailureClass.KILLED
        assert decision.record.attempt == 0

    @pytest.mark.parametrize(("spent", "is_over"), [(0, False), (1, False), (2, True)])
    def test_a_limit_is_kept(self, spent: int, is_over: bool) -> None:
        rule = rules(FailureClass.KILLED, FailureClass.HANG, limit=2)
        decision = self.decide(restart=(rule,), spent=(("Hang", spent),) if spent else ())
        assert (decision.record.ending is Phase.FAILED) is is_over

    def test_an_unnamed_class_restarts_three_times(self) -> None:
        assert self.decide(spent=(("Killed", 2),)).record.attempt == 1
        assert self.decide(spent=(("Killed", 3),)).record.ending is Phase.FAILED

    def test_the_first_rule_that_names_the_class_decides(self) -> None:
        both = (rules(FailureClass.KILLED), rules(FailureClass.KILLED, do="fail"))
        assert self.decide(restart=both).record.attempt == 1

    def test_no_progress_ends_the_job_whatever_the_class(self) -> None:
        generous = (rules(FailureClass.KILLED),)
        before = self.decide(restart=generous, no_progress=5, fruitless=3)
        after = self.decide(restart=generous, no_progress=5, fruitless=4)
        assert before.record.ending is None
        assert after.record.ending is Phase.FAILED
        assert after.reason == FailureClass.NO_PROGRESS.value

    def test_a_newer_commit_forgives_the_fruitless_ones(self) -> None:
        self.killed = replace(self.killed, head=Head(0, "0000000010-0"))
        decision = self.decide(fruitless=4)
        assert (decision.record.attempt, decision.record.fruitless) == (1, 0)

    def test_the_commit_that_was_there_before_forgives_nothing(self) -> None:
        self.killed = replace(self.killed, head=Head(1, "0000000010-0"))
        decision = self.decide(fruitless=0, head_at_open="0000000010-0")
        assert (decision.record.attempt, decision.record.fruitless) == (1, 1)

    @pytest.mark.parametrize(
        ("fruitless", "wait_s"), [(0, 0), (1, 1), (2, 2), (3, 4), (7, 60), (20, 60)]
    )
    def test_backoff_grows_while_nothing_is_committed(self, fruitless: int, wait_s: int) -> None:
        decision = self.decide(fruitless=fruitless, no_progress=99)
        assert decision.record.attempt == (0 if wait_s else 1)
        assert decision.recheck_after_s == (wait_s if wait_s else 0)
        if wait_s:
            again = failure.failed_attempt(look(decision.record, self.killed, at_s=wait_s + 1.1))
            assert again is not None
            assert again.record.attempt == 1
            assert again.record.backoff_until_ns is None


class TestSuccess:
    def test_all_slots_done(self) -> None:
        decision = success.all_succeeded(look(record(), Observed(ends=(end(0), end(1)))))
        assert decision is not None
        assert decision.record.ending is Phase.SUCCEEDED

    @pytest.mark.parametrize("head", [None, Head(0, None), Head(0, "0000000010-0")])
    def test_a_watched_folder_in_which_nothing_appeared_is_told(self, head: Head | None) -> None:
        job = record()
        watch = CheckpointPlan(mode="watch", directory="./out")
        job = replace(job, plan=replace(job.plan, checkpoint=watch))
        seen = Observed(tasks=RUNNING, world=world(), ends=(end(0), end(1)), head=head)
        decision = success.all_succeeded(look(job, seen))
        assert decision is not None
        is_empty = head is None or head.checkpoint is None
        assert ("./out" in decision.record.warning) is is_empty

    def test_one_slot_is_not_all(self) -> None:
        assert success.all_succeeded(look(record(), Observed(ends=(end(0),)))) is None

    @pytest.mark.parametrize(
        ("head", "is_done"),
        [
            (Head(0, "0000000100-0"), True),
            (Head(0, "0000000099-0"), False),
            (Head(1, "0000000100-0"), False),
            (Head(0, None), False),
            (None, False),
        ],
    )
    def test_a_death_in_teardown_counts_only_once_all_is_committed(
        self, head: Head | None, is_done: bool
    ) -> None:
        ends = (end(0), end(1, Outcome.FAILED, exit_code=-6, finished=True))
        decision = success.died_in_teardown(look(record(), Observed(ends=ends, head=head)))
        assert (decision is not None) is is_done
        if decision is not None:
            assert decision.record.ending is Phase.SUCCEEDED
            assert decision.record.warning

    def test_a_rank_that_had_not_finished_did_not_die_in_teardown(self) -> None:
        ends = (end(0), end(1, Outcome.FAILED, exit_code=-6))
        observed = Observed(ends=ends, head=Head(0, "0000000100-0"))
        assert success.died_in_teardown(look(record(), observed)) is None

    def test_a_death_in_teardown_is_no_success_while_others_train(self) -> None:
        ends = (end(1, Outcome.FAILED, exit_code=-6, finished=True),)
        observed = Observed(ends=ends, head=Head(0, "0000000100-0"))
        assert success.died_in_teardown(look(record(), observed)) is None


class TestEnding:
    def test_a_stop_request_is_acted_on_once(self) -> None:
        job = record(stop=StopRequest(T0, reason="enough"))
        decision = ending.user_stop(look(job, Observed(tasks=RUNNING)))
        assert decision is not None
        assert decision.record.ending is Phase.STOPPED
        assert "enough" in decision.message
        assert ending.user_stop(look(decision.record, Observed(tasks=RUNNING))) is None

    def test_the_end_waits_until_nothing_lives(self) -> None:
        job = record(ending=Phase.FAILED, ending_since_ns=T0, phase=Phase.STOPPING)
        waits = ending.bring_down(look(job, Observed(tasks=RUNNING)))
        ends = ending.bring_down(look(job, Observed()))
        assert waits is not None
        assert ends is not None
        assert waits.record.phase is Phase.STOPPING
        assert len(waits.actions) == 2
        assert ends.record.phase is Phase.FAILED
        assert ends.record.ended_ns == seconds(1)

    def test_every_living_task_is_told_to_end(self) -> None:
        job = record(ending=Phase.FAILED, ending_since_ns=T0, phase=Phase.STOPPING)
        states = (task(0, TaskState.PENDING), task(1, TaskState.STOPPING), task(1, incarnation=4))
        gone = task(0, TaskState.STOPPED, incarnation=7)
        decision = ending.bring_down(look(job, Observed(tasks=(*states, gone))))
        assert decision is not None
        told = {a.task.id for a in decision.actions if isinstance(a, Stop)}
        assert told == {one.id for one in states}

    def test_a_zombie_does_not_hold_it_up_for_ever(self) -> None:
        job = record(ending=Phase.FAILED, ending_since_ns=T0, phase=Phase.STOPPING)
        decision = ending.bring_down(look(job, Observed(tasks=RUNNING), at_s=5000))
        assert decision is not None
        assert decision.record.phase is Phase.FAILED
        assert "ZombieHost" in decision.record.warning
        assert len(decision.actions) == 2

    def test_what_is_left_is_cleaned_when_no_task_lives(self) -> None:
        job = record(ending=Phase.FAILED, ending_since_ns=T0, phase=Phase.STOPPING)
        decision = ending.bring_down(look(job, Observed(leftovers=("pid 7",))))
        assert decision is not None
        assert decision.actions == (Clean(("pid 7",)),)

    def test_only_a_user_gives_the_whole_grace(self) -> None:
        def grace(phase: Phase) -> float:
            job = record(ending=phase, ending_since_ns=T0, phase=Phase.STOPPING)
            decision = ending.bring_down(look(job, Observed(tasks=RUNNING)))
            assert decision is not None
            assert isinstance(decision.actions[0], Stop)
            return decision.actions[0].grace_s

        assert grace(Phase.STOPPED) == record().plan.stop_grace_s + ending.STOP_MARGIN_S
        assert grace(Phase.SUCCEEDED) == ending.STOP_MARGIN_S

    def test_two_empty_sweeps_with_a_gap_between_settle_it(self) -> None:
        job = record(phase=Phase.FAILED, ending=Phase.FAILED, ended_ns=T0)
        first = ending.sweep(look(job, Observed(), at_s=1.0))
        assert first is not None
        early = ending.sweep(look(first.record, Observed(), at_s=1.1))
        second = ending.sweep(look(first.record, Observed(), at_s=1.3))
        assert early is not None
        assert second is not None
        assert (first.record.sweeps, early.record.sweeps, second.record.sweeps) == (1, 1, 2)

    def test_a_stray_after_the_end_is_stopped_and_the_count_begins_again(self) -> None:
        job = record(phase=Phase.FAILED, ending=Phase.FAILED, ended_ns=T0, sweeps=1, swept_ns=T0)
        decision = ending.sweep(look(job, Observed(tasks=(task(0),)), at_s=9.0))
        assert decision is not None
        assert decision.record.sweeps == 0
        assert decision.record.phase is Phase.FAILED
        assert isinstance(decision.actions[0], Stop)


class TestDeadlines:
    def test_max_runtime_always_ends_it(self) -> None:
        limit_s = record().plan.max_runtime_s
        assert deadlines.max_runtime(look(record(), Observed(), at_s=limit_s - 1)) is None
        decision = deadlines.max_runtime(look(record(), Observed(), at_s=limit_s))
        assert decision is not None
        assert decision.record.ending is Phase.FAILED
        assert decision.reason == "MaxRuntime"

    def test_a_gang_that_does_not_come_together_names_who_is_absent(self) -> None:
        observed = Observed(tasks=RUNNING, members=(member(0),))
        late_s = record().plan.start_timeout_s
        assert deadlines.start_timeout(look(record(), observed, at_s=late_s - 1)) is None
        decision = deadlines.start_timeout(look(record(), observed, at_s=late_s))
        assert decision is not None
        assert "slots not ready: 1" in decision.message
        assert [s.incarnation for s in decision.record.seats] == [0, 1]

    def test_a_frozen_world_has_come_together(self) -> None:
        observed = Observed(tasks=RUNNING, world=world())
        assert deadlines.start_timeout(look(record(), observed, at_s=9999)) is None


def silent(slot: int, age_s: float) -> SeenBeat:
    return SeenBeat(Beat(slot, 0, 0), int(age_s * 1e9))


class TestSilence:
    def decide(self, *beats: SeenBeat, at_s: float = 60.0, **seen: object) -> object:
        observed = Observed(tasks=(task(0), task(1), task(2)), beats=beats, **seen)
        return silence.silent_member(look(record(3), observed, at_s=at_s))

    def test_a_silent_agent_loses_its_seat_while_others_gather(self) -> None:
        decision = self.decide(silent(1, 30), members=(member(0), member(2)))
        assert [s.incarnation for s in decision.record.seats] == [0, 1, 0]

    def test_a_beating_one_does_not(self) -> None:
        assert self.decide(silent(1, 1), members=(member(0), member(2))) is None

    def test_in_a_running_world_the_standstill_is_the_sign(self) -> None:
        assert self.decide(silent(1, 1500), world=world(3), at_s=4000) is None

    def test_a_running_gang_that_nobody_hears_of_is_replaced_at_last(self) -> None:
        every = (silent(0, 3000), silent(1, 3000), silent(2, 3000))
        decision = self.decide(*every, world=world(3), at_s=4000)
        assert [s.incarnation for s in decision.record.seats] == [1, 1, 1]

    def test_once_others_are_done_silence_is_the_sign_again(self) -> None:
        ends = (end(0), end(2))
        decision = self.decide(silent(1, 60), world=world(3), ends=ends)
        assert [s.incarnation for s in decision.record.seats] == [0, 1, 0]

    def test_when_most_are_silent_it_is_the_store_at_first(self) -> None:
        both = (silent(1, 3000), silent(2, 3000))
        held = self.decide(*both, members=(member(0),))
        assert held.reason == FailureClass.STORE_UNREACHABLE.value
        assert held.record.attempt == 0
        late = self.decide(*both, members=(member(0),), at_s=record().plan.start_timeout_s)
        assert [s.incarnation for s in late.record.seats] == [0, 1, 1]


class TestSteady:
    def test_gathering_names_who_is_waited_for(self) -> None:
        observed = Observed(tasks=RUNNING, members=(member(0),))
        decision = steady.gathering(look(record(), observed, at_s=5))
        assert decision is not None
        assert decision.message == "waiting for slot 1"
        assert decision.record.phase is Phase.STARTING

    def test_training(self) -> None:
        decision = steady.running(look(record(), Observed(tasks=RUNNING, world=world())))
        assert (decision.reason, decision.record.phase) == ("Training", Phase.RUNNING)

    def test_finishing_names_who_is_still_at_work(self) -> None:
        observed = Observed(tasks=RUNNING, world=world(), ends=(end(0),))
        decision = steady.running(look(record(), observed))
        assert decision.message == "slot 1 still at work"

    def test_nothing_new_saves_nothing(self) -> None:
        observed = Observed(tasks=RUNNING, world=world())
        first = reconcile(record(), observed, seconds(1))
        assert reconcile(first.record, observed, seconds(2)).record is first.record
