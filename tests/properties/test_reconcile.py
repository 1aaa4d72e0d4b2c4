"""The core decides about anything it may see, and keeps its promises whatever that is."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from phalanx import names
from phalanx.frozen import replace
from phalanx.plan.job import JobPlan, RestartRule
from phalanx.reconcile.decision import ECS_TIMING, Decision, Launch, Stop, Timing
from phalanx.reconcile.reconcile import reconcile
from phalanx.state.gang import Beat, End, Head, RankEnd, World
from phalanx.state.observed import Observed, ObservedTask, SeenBeat
from phalanx.state.record import Record, Seat, StopRequest
from phalanx.words import FailureClass, Outcome, Phase, TaskState
from tests.support.records import JOB, T0, member, seconds

NODES = st.integers(1, 4)
SMALL = st.integers(0, 2)
TIMES = st.integers(-100, 10_000).map(seconds)
CHECKPOINTS = st.sampled_from([None, "0000000010-0", "0000000100-0", "0000000100-1"])
TIMINGS = st.sampled_from([Timing(), ECS_TIMING])
TERMINAL = [p for p in Phase if p.is_terminal]


@st.composite
def plans(draw: st.DrawFn) -> JobPlan:
    classes = st.lists(st.sampled_from(FailureClass), max_size=4).map(tuple)
    rule = st.builds(
        RestartRule,
        classes,
        st.sampled_from(["restart", "fail"]),
        st.none() | st.integers(1, 3),
        st.booleans(),
    )
    nodes = draw(NODES)
    return JobPlan(
        name="demo",
        command=("python", "train.py"),
        nodes=nodes,
        min_nodes=draw(st.integers(0, nodes)),
        total_steps=draw(st.sampled_from([None, 100])),
        restart=tuple(draw(st.lists(rule, max_size=3))),
        restart_scope=draw(st.sampled_from(["slot", "gang"])),
        no_progress=draw(st.integers(1, 5)),
    )


@st.composite
def records(draw: st.DrawFn) -> Record:
    plan = draw(plans())
    parked = range(plan.nodes - draw(st.integers(0, plan.nodes - plan.fewest)), plan.nodes)
    falls, since_ns, because = draw(st.tuples(SMALL, TIMES, st.sampled_from(["", "no room"])))
    seats = tuple(
        Seat(
            slot,
            draw(SMALL),
            draw(SMALL),
            draw(st.none() | TIMES),
            draw(st.booleans()),
            parked=slot in parked,
            falls=falls,
            since_ns=since_ns,
            because=because,
        )
        for slot in range(plan.nodes)
    )
    ending = draw(st.none() | st.sampled_from(TERMINAL))
    phases = [ending, Phase.STOPPING] if ending else [p for p in Phase if not p.is_terminal]
    return Record(
        JOB,
        plan,
        created_ns=T0,
        phase=draw(st.sampled_from(phases)),
        attempt=draw(SMALL),
        attempt_opened_ns=draw(TIMES),
        seats=seats,
        spent=tuple(draw(st.dictionaries(st.just("Killed"), st.integers(0, 5))).items()),
        fruitless=draw(st.integers(0, 5)),
        head_at_open=draw(CHECKPOINTS),
        backoff_until_ns=draw(st.none() | TIMES),
        stop=draw(st.none() | st.builds(StopRequest, TIMES)),
        ending=ending,
        sweeps=draw(SMALL),
        quorum_ns=draw(st.none() | TIMES),
        growing=draw(st.sampled_from([None, "", "0000000010-0"])),
        resized_ns=draw(TIMES),
    )


@st.composite
def tasks(draw: st.DrawFn, n: int) -> ObservedTask:
    slot, incarnation, tries = draw(st.integers(0, 4)), draw(SMALL), draw(SMALL)
    return ObservedTask(
        f"task-{n}",
        names.token(JOB, slot, incarnation, tries),
        slot,
        incarnation,
        tries,
        draw(st.sampled_from(TaskState)),
        exit_code=draw(st.none() | st.sampled_from([0, 1, 137])),
        failure=draw(st.none() | st.sampled_from(FailureClass)),
    )


@st.composite
def ends(draw: st.DrawFn) -> End:
    ranks = tuple(
        RankEnd(
            draw(st.integers(0, 8)),
            n,
            100 + n,
            draw(st.none() | st.sampled_from([0, 1, -9])),
            draw(st.none() | st.sampled_from([6, 9, 15])),
            error=draw(st.sampled_from(["", "Connection reset", "ValueError: x"])),
            told_to_stop=draw(st.booleans()),
        )
        for n in range(draw(SMALL))
    )
    return End(
        draw(st.integers(0, 4)),
        draw(SMALL),
        draw(SMALL),
        draw(st.sampled_from(Outcome)),
        ranks,
        draw(st.none() | st.sampled_from(FailureClass)),
        checkpoint=draw(CHECKPOINTS),
        step=draw(st.integers(0, 100)),
        finished=draw(st.booleans()),
        at_ns=draw(TIMES),
    )


@st.composite
def sights(draw: st.DrawFn) -> Observed:
    members = [
        member(draw(st.integers(0, 4)), draw(SMALL), draw(SMALL)) for _ in range(draw(SMALL))
    ]
    world = None
    if draw(st.booleans()):
        world = World(draw(SMALL), tuple(members), draw(CHECKPOINTS))
    beats = st.builds(
        SeenBeat,
        st.builds(Beat, st.integers(0, 4), SMALL, SMALL),
        st.integers(0, 10**13),
    )
    return Observed(
        tasks=tuple(draw(tasks(n)) for n in range(draw(st.integers(0, 6)))),
        members=tuple(members),
        world=world,
        ends=tuple(
            {(e.slot, e.incarnation, e.attempt): e for e in draw(st.lists(ends()))}.values()
        ),
        beats=tuple(draw(st.lists(beats, max_size=4))),
        head=draw(st.none() | st.builds(Head, SMALL, CHECKPOINTS)),
        leftovers=draw(st.sampled_from([(), ("pid 7",)])),
    )


CASES = {"record": records(), "observed": sights(), "now_ns": TIMES, "timing": TIMINGS}


@given(**CASES)
def test_everything_has_a_decision_with_a_reason(
    record: Record, observed: Observed, now_ns: int, timing: Timing
) -> None:
    decision = reconcile(record, observed, now_ns, timing)
    assert decision.reason
    assert decision.message
    assert decision.recheck_after_s >= 0
    assert decision == reconcile(record, observed, now_ns, timing)


@given(data=st.data(), **CASES)
def test_the_order_of_what_was_seen_does_not_matter(
    data: st.DataObject, record: Record, observed: Observed, now_ns: int, timing: Timing
) -> None:
    shuffled = replace(
        observed,
        tasks=tuple(data.draw(st.permutations(observed.tasks))),
        ends=tuple(data.draw(st.permutations(observed.ends))),
        members=tuple(data.draw(st.permutations(observed.members))),
        beats=tuple(data.draw(st.permutations(observed.beats))),
    )
    assert reconcile(record, shuffled, now_ns, timing) == reconcile(
        record, observed, now_ns, timing
    )


@given(**CASES)
def test_what_only_grows_never_shrinks(
    record: Record, observed: Observed, now_ns: int, timing: Timing
) -> None:
    new = reconcile(record, observed, now_ns, timing).record
    assert new.attempt - record.attempt in (0, 1)
    for before, after in zip(record.seats, new.seats, strict=True):
        assert after.slot == before.slot
        assert after.incarnation - before.incarnation in (0, 1)
        if new.attempt == record.attempt:
            assert after.parked == before.parked
            assert after.parked or after.incarnation == before.incarnation
    assert record.plan.fewest <= len(new.active) <= record.plan.nodes
    assert new.history[: len(record.history)] == record.history
    assert set(record.unreadable) <= set(new.unreadable)
    assert (new.job, new.plan, new.created_ns) == (record.job, record.plan, record.created_ns)
    if record.ending is not None:
        assert (new.ending, new.attempt) == (record.ending, record.attempt)
    if record.phase.is_terminal:
        assert (new.phase, new.seats, new.cause) == (record.phase, record.seats, record.cause)


@given(**CASES)
def test_nothing_is_launched_once_the_job_is_ending(
    record: Record, observed: Observed, now_ns: int, timing: Timing
) -> None:
    decision = reconcile(record, observed, now_ns, timing)
    launches = [a for a in decision.actions if isinstance(a, Launch)]
    if record.ending is not None or decision.record.ending is not None:
        assert not launches
    for action in launches:
        assert decision.record.seats[action.seat.slot] == action.seat
        assert action.seat.launched_ns is not None


@given(**CASES)
def test_only_tasks_without_a_seat_are_stopped_while_the_job_goes_on(
    record: Record, observed: Observed, now_ns: int, timing: Timing
) -> None:
    decision = reconcile(record, observed, now_ns, timing)
    if record.ending is None and not record.phase.is_terminal:
        seated = {
            names.token(JOB, s.slot, s.incarnation, s.tries)
            for s in record.seats
            if s.launched_ns is not None
        }
        stopped = {a.task.token for a in decision.actions if isinstance(a, Stop)}
        assert not stopped & seated


@given(**CASES)
@settings(max_examples=50)
def test_it_settles_when_nothing_changes(
    record: Record, observed: Observed, now_ns: int, timing: Timing
) -> None:
    """The same sight at the same moment: after some passes nothing is left to save."""
    decision: Decision | None = None
    for _ in range(record.plan.nodes * 12 + 12):
        decision = reconcile(record, observed, now_ns, timing)
        if decision.record == record:
            return
        record = decision.record
    raise AssertionError(f"still changing: {decision}")
