"""Pause and resume as decisions: what is saved, when a job rests, and how it goes on."""

from __future__ import annotations

from phalanx.frozen import replace
from phalanx.reconcile.decision import Launch, Stop
from phalanx.reconcile.reconcile import reconcile
from phalanx.state.gang import Head
from phalanx.state.observed import Observed
from phalanx.state.record import PauseRequest, Record, StopRequest
from phalanx.words import FailureClass, Outcome, Phase, TaskState
from tests.support.records import T0, end, record, rules, seconds, task, world

RUNNING = Observed(tasks=(task(0), task(1)), world=world())
EMPTY = Observed(head=Head(0, "0000000040-0"))
PAUSE = PauseRequest(seconds(5), "lunch")


def asked(**changes: object) -> Record:
    return record(pause=PAUSE, phase=Phase.RUNNING, **changes)


def resting(**changes: object) -> Record:
    """A job that came to rest at second 9."""
    coming = reconcile(asked(), RUNNING, seconds(6)).record
    return replace(reconcile(coming, EMPTY, seconds(9)).record, **changes)


def test_a_request_brings_the_job_down_with_a_last_save() -> None:
    decision = reconcile(asked(), RUNNING, seconds(6))
    job = decision.record
    assert (job.phase, job.ending, job.reason) == (Phase.STOPPING, Phase.PAUSED, "PauseRequested")
    assert job.last_save
    assert "lunch" in job.message
    insisting = reconcile(job, RUNNING, seconds(7))
    graces = [a.grace_s for a in insisting.actions if isinstance(a, Stop)]
    assert len(graces) == 2
    assert min(graces) >= job.plan.stop_grace_s
    assert insisting.record.phase is Phase.STOPPING


def test_it_rests_once_nothing_lives_and_says_how_to_go_on() -> None:
    job = resting()
    assert (job.phase, job.ending, job.paused_since_ns) == (Phase.PAUSED, Phase.PAUSED, seconds(9))
    assert job.ended_ns is None
    (past,) = job.history
    assert (past.attempt, past.cause.failure) == (0, FailureClass.STOPPED_BY_USER)
    assert (past.counted, past.resumed_from) == (False, "0000000040-0")
    assert "phalanx resume demo-1" in job.message
    assert "0000000040-0" in job.message


def test_a_job_at_rest_is_swept_twice_and_then_needs_nobody() -> None:
    job = resting()
    assert not job.is_settled
    stray = reconcile(job, Observed(tasks=(task(0),)), seconds(10))
    assert [type(a) for a in stray.actions] == [Stop]
    for at_s in (11, 12, 13):
        job = reconcile(job, EMPTY, seconds(at_s)).record
    assert job.is_settled
    decision = reconcile(job, EMPTY, seconds(9999))
    assert decision.record is job
    assert not decision.actions


def test_no_limit_ends_a_job_while_it_rests() -> None:
    job = resting()
    job = replace(job, plan=replace(job.plan, max_runtime_s=10.0, max_waiting_s=10.0), sweeps=2)
    assert reconcile(job, EMPTY, seconds(86400)).record.phase is Phase.PAUSED


def test_resume_opens_the_next_attempt_with_new_tasks_and_counts_nothing() -> None:
    job = resting(pause=None, fruitless=3, sweeps=2)
    decision = reconcile(job, EMPTY, seconds(109))
    opened = decision.record
    assert (opened.phase, opened.reason, opened.ending) == (Phase.RESTARTING, "Resumed", None)
    assert (opened.attempt, opened.counted, opened.uncounted) == (1, 0, 1)
    assert [(s.incarnation, s.launched_ns, s.seen_alive) for s in opened.seats] == [
        (1, None, False)
    ] * 2
    assert opened.head_at_open == "0000000040-0"
    assert opened.fruitless == 0
    assert (opened.paused_ns, opened.paused_since_ns) == (100 * 10**9, None)
    assert not opened.last_save
    launched = reconcile(opened, EMPTY, seconds(110))
    assert [type(a) for a in launched.actions] == [Launch, Launch]


def test_the_clocks_of_waiting_and_running_do_not_count_the_rest() -> None:
    job = reconcile(resting(pause=None), EMPTY, seconds(1009)).record
    limits = replace(job.plan, max_runtime_s=100.0, max_waiting_s=50.0)
    job = replace(job, plan=limits, warned=("max_runtime",))
    waiting = Observed(tasks=(task(0, incarnation=1), task(1, incarnation=1)))
    assert reconcile(job, waiting, seconds(1050)).record.ending is None
    assert reconcile(job, waiting, seconds(1060)).reason == "MaxWaiting"
    # 9 s before the rest and 91 s after it are 100 s.
    trained = Observed(tasks=waiting.tasks, world=world(attempt=1))
    assert reconcile(job, trained, seconds(1099)).record.ending is None
    assert reconcile(job, trained, seconds(1101)).reason == "MaxRuntime"


def test_attempts_without_progress_are_neither_counted_nor_forgotten_by_a_rest() -> None:
    job = resting(pause=None, fruitless=3, head_at_open="0000000040-0")
    assert reconcile(job, EMPTY, seconds(20)).record.fruitless == 3


def test_stop_ends_a_job_at_rest() -> None:
    job = resting(stop=StopRequest(seconds(20)))
    ending = reconcile(job, EMPTY, seconds(21)).record
    assert (ending.ending, ending.reason) == (Phase.STOPPED, "StopRequested")
    assert reconcile(ending, EMPTY, seconds(22)).record.phase is Phase.STOPPED


def test_stop_takes_precedence_while_a_job_comes_to_rest() -> None:
    job = reconcile(asked(), RUNNING, seconds(6)).record
    stopped = reconcile(replace(job, stop=StopRequest(seconds(7))), RUNNING, seconds(8)).record
    assert stopped.ending is Phase.STOPPED
    assert not stopped.last_save


def test_a_job_that_is_done_ends_instead_of_resting() -> None:
    ends = (end(0), end(1))
    done = replace(RUNNING, ends=ends)
    assert reconcile(asked(), done, seconds(6)).record.ending is Phase.SUCCEEDED
    coming = reconcile(asked(), RUNNING, seconds(6)).record
    assert reconcile(coming, done, seconds(7)).record.ending is Phase.SUCCEEDED


def test_a_failure_that_nobody_has_acted_on_does_not_keep_a_job_from_resting() -> None:
    failed = replace(RUNNING, ends=(end(0, Outcome.FAILED, 1),))
    job = asked(plan=replace(record().plan, restart=(rules(*FailureClass, do="fail"),)))
    coming = reconcile(job, failed, seconds(6))
    assert coming.record.ending is Phase.PAUSED


def test_a_pause_before_anything_was_launched_rests_at_once() -> None:
    job = record(launched=False, pause=PauseRequest(T0))
    coming = reconcile(job, Observed(), seconds(1)).record
    rests = reconcile(coming, Observed(), seconds(1))
    assert rests.record.phase is Phase.PAUSED
    assert not rests.actions


def test_a_zombie_does_not_keep_a_job_from_resting_for_ever() -> None:
    coming = reconcile(asked(), RUNNING, seconds(6)).record
    held = Observed(tasks=(task(0, TaskState.STOPPING),))
    assert reconcile(coming, held, seconds(60)).record.phase is Phase.STOPPING
    assert reconcile(coming, held, seconds(2000)).record.phase is Phase.PAUSED
