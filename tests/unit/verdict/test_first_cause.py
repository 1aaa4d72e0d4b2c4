"""First cause: kind before time, own stops never, ties named."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from phalanx.state.gang import End, RankEnd
from phalanx.state.observed import ObservedTask
from phalanx.verdict.first_cause import UNCERTAINTY_NS, first_cause
from phalanx.words import FailureClass as F
from phalanx.words import Outcome, TaskState

GLOO = "RuntimeError: Connection closed by peer [10.0.0.7]:4321"
SECOND = 1_000_000_000


def rank(n: int, **kw: Any) -> RankEnd:
    return RankEnd(rank=n, local_rank=0, pid=n, **kw)


def failed(slot: int, *ranks: RankEnd, **kw: Any) -> End:
    kw.setdefault("outcome", Outcome.FAILED)
    return End(slot=slot, incarnation=0, attempt=0, ranks=ranks, **kw)


def lost(slot: int, **kw: Any) -> ObservedTask:
    kw.setdefault("state", TaskState.STOPPED)
    return ObservedTask(id=f"task-{slot}", token="t", slot=slot, incarnation=0, tries=0, **kw)


def test_a_kill_comes_before_an_earlier_seen_connection_error() -> None:
    cause = first_cause(
        (
            failed(0, rank(0, exit_code=1, error=GLOO), at_ns=1 * SECOND),
            failed(1, rank(1, signal=9), at_ns=9 * SECOND),
        )
    )
    assert (cause.failure, cause.slot, cause.rank, cause.also) == (F.KILLED, 1, 1, ())
    assert cause.message == "rank 1 (slot 1) was killed by SIGKILL"


def test_time_decides_between_equals() -> None:
    cause = first_cause(
        (
            failed(0, rank(0, exit_code=1, error="ValueError: b"), at_ns=5 * SECOND),
            failed(1, rank(1, exit_code=1, error="KeyError: a"), at_ns=3 * SECOND),
        )
    )
    assert (cause.slot, cause.also) == (1, ())
    assert cause.message == "rank 1 (slot 1) exited 1: KeyError: a"


def test_the_time_of_stopping_the_others_is_taken_off() -> None:
    slow = failed(
        0,
        rank(0, exit_code=1, error="ValueError: b", after_ns=1 * SECOND),
        rank(1, signal=9, told_to_stop=True, after_ns=11 * SECOND, order=1),
        at_ns=20 * SECOND,
    )
    other = failed(1, rank(2, exit_code=1, error="KeyError: a"), at_ns=15 * SECOND)
    assert first_cause((slow, other)).rank == 0


def test_two_that_are_too_close_are_both_named() -> None:
    cause = first_cause(
        (
            failed(0, rank(0, signal=11), at_ns=SECOND),
            failed(1, rank(1, signal=9), at_ns=SECOND + UNCERTAINTY_NS),
        )
    )
    assert (cause.rank, cause.also) == (0, (1,))
    assert "rank 1 (slot 1)" in cause.message
    assert len(cause.evidence) == 2


def test_inside_one_agent_its_own_order_decides() -> None:
    cause = first_cause(
        (
            failed(
                0,
                rank(0, exit_code=1, error="ValueError: late", order=1),
                rank(1, exit_code=1, error="ValueError: early", order=0),
            ),
        )
    )
    assert (cause.rank, cause.also) == (1, ())


def test_own_stops_never_count() -> None:
    cause = first_cause(
        (
            failed(0, rank(0, signal=9, told_to_stop=True), outcome=Outcome.STOPPED),
            failed(
                1,
                rank(2, signal=15, told_to_stop=True, order=0),
                rank(3, exit_code=3, order=1),
                at_ns=SECOND,
            ),
        ),
        (lost(2, failure=F.STOPPED_BY_US), lost(3, failure=F.SUPERSEDED)),
    )
    assert (cause.failure, cause.rank) == (F.NON_ZERO_EXIT, 3)


def test_nothing_but_own_stops_is_unknown() -> None:
    cause = first_cause((failed(0, rank(0, signal=9, told_to_stop=True), outcome=Outcome.STOPPED),))
    assert cause.failure is F.UNKNOWN
    assert first_cause(()).failure is F.UNKNOWN


def test_a_departure_notice_is_named_when_nothing_else_is() -> None:
    ends = (failed(0, outcome=Outcome.STOPPED, failure=F.SPOT_INTERRUPTION, message="notice"),)
    assert first_cause(ends).failure is F.SPOT_INTERRUPTION


def test_a_task_without_an_ending_is_a_primary() -> None:
    ends = (failed(0, rank(0, exit_code=1, error=GLOO), at_ns=1),)
    cause = first_cause(ends, (lost(0), lost(1)))
    assert (cause.failure, cause.slot, cause.rank) == (F.KILLED, 1, None)
    assert "the agent is gone without an ending" in cause.message
    assert first_cause(ends, (lost(1, failure=F.HOST_LOST),)).failure is F.HOST_LOST
    assert first_cause(ends, (lost(1, reason="Host EC2 (i-1) terminated."),)).failure is F.HOST_LOST


def test_a_seat_with_a_live_task_is_not_lost() -> None:
    tasks = (lost(1), lost(1, state=TaskState.RUNNING))
    assert first_cause((), tasks).failure is F.UNKNOWN


def test_the_agents_own_word_counts_and_names_the_rank() -> None:
    cause = first_cause(
        (
            failed(
                1,
                rank(4, exit_code=1, error="CheckpointUnreadable: digest"),
                failure=F.CHECKPOINT_UNREADABLE,
                message="0000000400-1: digest of shard 4 is wrong",
            ),
        )
    )
    assert (cause.failure, cause.rank) == (F.CHECKPOINT_UNREADABLE, 4)
    assert "digest of shard 4" in cause.message


def test_a_death_comes_before_a_hang_that_others_saw() -> None:
    ends = (
        failed(0, failure=F.HANG, message="no step for 30 s", at_ns=1),
        failed(1, rank(1, signal=9), at_ns=90 * SECOND),
    )
    assert first_cause(ends).failure is F.KILLED


def test_a_rank_that_left_early_is_named() -> None:
    cause = first_cause(
        (
            failed(0, rank(0, exit_code=1, error=GLOO), at_ns=2 * SECOND),
            failed(1, rank(1, exit_code=0), outcome=Outcome.SUCCEEDED, at_ns=1 * SECOND),
        )
    )
    assert cause.failure is F.NETWORK_FAULT
    assert cause.message.startswith("rank 1 exited 0 while others were still training")


def test_a_rank_that_left_early_is_not_blamed_for_a_kill() -> None:
    cause = first_cause(
        (
            failed(0, rank(0, signal=9), at_ns=2 * SECOND),
            failed(1, rank(1, exit_code=0), outcome=Outcome.SUCCEEDED, at_ns=1 * SECOND),
        )
    )
    assert "exited 0" not in cause.message


RANKS = st.builds(
    RankEnd,
    rank=st.integers(0, 3),
    local_rank=st.just(0),
    pid=st.integers(1, 3),
    exit_code=st.sampled_from([None, 0, 1, 3, 137]),
    signal=st.sampled_from([None, None, 6, 9, 15]),
    error=st.sampled_from(["", GLOO, "ValueError: x", "MemoryError", "oom-kill"]),
    told_to_stop=st.booleans(),
    after_ns=st.integers(0, 3 * UNCERTAINTY_NS),
    order=st.integers(0, 2),
)
ENDS = st.builds(
    End,
    slot=st.integers(0, 2),
    incarnation=st.integers(0, 1),
    attempt=st.just(0),
    outcome=st.sampled_from(Outcome),
    ranks=st.lists(RANKS, max_size=3).map(tuple),
    failure=st.sampled_from([None, None, None, F.HANG, F.CHECKPOINT_UNREADABLE]),
    at_ns=st.integers(0, 4 * UNCERTAINTY_NS),
)
TASKS = st.builds(
    ObservedTask,
    id=st.sampled_from(["a", "b"]),
    token=st.just("t"),
    slot=st.integers(0, 2),
    incarnation=st.integers(0, 1),
    tries=st.just(0),
    state=st.sampled_from(TaskState),
    failure=st.sampled_from([None, F.HOST_LOST, F.STOPPED_BY_US]),
)


@given(st.data(), st.lists(ENDS, max_size=4), st.lists(TASKS, max_size=4))
def test_order_of_the_evidence_does_not_matter(
    data: st.DataObject, ends: list[End], tasks: list[ObservedTask]
) -> None:
    shuffled = [
        End(**{**e.__dict__, "ranks": tuple(data.draw(st.permutations(e.ranks)))})
        for e in data.draw(st.permutations(ends))
    ]
    other = tuple(data.draw(st.permutations(tasks)))
    assert first_cause(tuple(shuffled), other) == first_cause(tuple(ends), tuple(tasks))


def test_a_command_that_has_worked_before_is_not_a_bad_one() -> None:
    gone = rank(0, exit_code=127, error="sh: train: not found")
    first = first_cause((failed(0, gone),))
    assert first.failure is F.BAD_COMMAND
    assert first.message == "rank 0 (slot 0) exited 127 (BadCommand): sh: train: not found"
    assert first_cause((failed(0, gone, step=400),)).failure is F.NON_ZERO_EXIT
