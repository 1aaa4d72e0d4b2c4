"""Instance time in the record, the limit on it, and the warning before a limit ends the job."""

from __future__ import annotations

from phalanx.frozen import replace
from phalanx.reconcile.hours import used_ns
from phalanx.reconcile.reconcile import reconcile
from phalanx.state import codec
from phalanx.state.observed import Observed
from phalanx.state.record import Record, StopRequest
from phalanx.words import Outcome, Phase, TaskState
from tests.support.records import end, record, seconds, task, world

HOUR = 3600
RUNNING = Observed(tasks=(task(0), task(1)), world=world())


def hours(n: float | None, **changes: object) -> Record:
    """A job whose two tasks were seen alive at second 0."""
    job = record(**changes)
    seats = tuple(replace(seat, alive_ns=seconds(0)) for seat in job.seats)
    return replace(job, seats=seats, plan=replace(job.plan, max_instance_hours=n))


def test_a_life_begins_with_the_first_sight() -> None:
    job = record(seats=tuple(replace(s, seen_alive=False) for s in record().seats))
    seen = reconcile(job, Observed(tasks=(task(0), task(1))), seconds(3)).record
    assert [seat.alive_ns for seat in seen.seats] == [seconds(3)] * 2
    assert used_ns(seen, seconds(10)) == 14 * 10**9


def test_a_lost_incarnation_is_booked_and_its_successor_starts_anew() -> None:
    lost = Observed(tasks=(task(0), task(1, TaskState.STOPPED)), world=world())
    job = reconcile(hours(None), lost, seconds(100)).record
    assert job.attempt == 1
    assert [seat.alive_ns for seat in job.seats] == [seconds(0), None]
    assert job.instance_ns == 100 * 10**9
    # It is all in the record: whoever reads it next goes on counting from there.
    again = codec.loads(Record, codec.dumps(job))
    assert used_ns(again, seconds(150)) == (100 + 150) * 10**9


def test_nothing_is_counted_once_the_job_is_over() -> None:
    job = hours(None, stop=StopRequest(seconds(5)))
    job = reconcile(job, RUNNING, seconds(6)).record
    assert used_ns(job, seconds(10)) == 20 * 10**9
    job = reconcile(job, Observed(), seconds(20)).record
    assert job.phase is Phase.STOPPED
    assert used_ns(job, seconds(9999)) == job.instance_ns == 40 * 10**9


def test_the_sum_over_all_tasks_ends_the_job_with_a_last_save() -> None:
    job = hours(1.0, warned=("max_instance_hours",))
    assert reconcile(job, RUNNING, seconds(HOUR / 2 - 1)).record.ending is None
    decision = reconcile(job, RUNNING, seconds(HOUR / 2 + 1))
    assert (decision.reason, decision.record.ending) == ("MaxInstanceHours", Phase.FAILED)
    assert decision.record.last_save
    assert decision.record.cause is not None
    assert "1 h" in decision.record.cause.message


def test_earlier_incarnations_count() -> None:
    job = hours(1.0, instance_ns=int(0.99 * HOUR * 10**9), warned=("max_instance_hours",))
    assert reconcile(job, RUNNING, seconds(30)).reason == "MaxInstanceHours"


def test_at_nine_tenths_somebody_is_told_once() -> None:
    job = hours(1.0)
    assert reconcile(job, RUNNING, seconds(0.44 * HOUR)).record.warned == ()
    decision = reconcile(job, RUNNING, seconds(0.46 * HOUR))
    assert [event.reason for event in decision.events] == ["LimitNear"]
    assert decision.record.warned == ("max_instance_hours",)
    assert "max_instance_hours" in decision.record.warning
    assert decision.record.phase is job.phase
    again = reconcile(decision.record, RUNNING, seconds(0.47 * HOUR))
    assert again.events == ()


def test_max_runtime_warns_and_saves_too() -> None:
    job = record()
    job = replace(job, plan=replace(job.plan, max_runtime_s=1000.0))
    near = reconcile(job, RUNNING, seconds(901)).record
    assert near.warned == ("max_runtime",)
    over = reconcile(near, RUNNING, seconds(1001)).record
    assert (over.reason, over.last_save) == ("MaxRuntime", True)


def test_a_job_without_a_limit_is_never_ended_for_its_hours() -> None:
    job = replace(hours(None), plan=replace(record().plan, max_runtime_s=1e9))
    assert reconcile(job, RUNNING, seconds(1e6)).record.ending is None


def test_a_crash_that_waits_for_its_verdict_does_not_keep_the_limit_away() -> None:
    failed = replace(RUNNING, ends=(end(0, Outcome.FAILED, 1),))
    job = hours(1.0, warned=("max_instance_hours",))
    assert reconcile(job, failed, seconds(HOUR)).reason == "MaxInstanceHours"
