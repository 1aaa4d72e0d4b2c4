from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from phalanx.app.ledger import LABELS, Facts, Live, compute
from phalanx.state.gang import LedgerEntry, Pace, World
from phalanx.state.record import PastAttempt, Seat
from phalanx.words import Phase
from tests.support.made_root import KILLED, SECOND, T0, plan, record


def entry(slot: int, incarnation: int, attempt: int, *, start_s: float, total_s: float, **more):
    start_ns = T0 + int(start_s * SECOND)
    return LedgerEntry(slot, incarnation, attempt, start_ns, int(total_s * SECOND), **more)


def seconds(ledger, label: str) -> float:
    return ledger.labels[label] / SECOND


SUCCEEDED = record(phase=Phase.SUCCEEDED, ended_ns=T0 + 30 * SECOND)


def test_a_job_of_two_attempts_is_labelled_by_what_survived():
    # Attempt 0 did 60 steps in 6 s, attempt 1 restored step 40 and went on to the end.
    first = {"restart_ns": 2 * SECOND, "train_ns": 6 * SECOND, "stall_ns": SECOND, "last_step": 60}
    second = {"restart_ns": SECOND, "train_ns": 16 * SECOND, "first_step": 40, "last_step": 200}
    facts = Facts(
        record=SUCCEEDED,
        entries=(
            entry(0, 0, 0, start_s=0, total_s=10, **first),
            entry(0, 0, 1, start_s=10.5, total_s=18, idle_ns=SECOND // 2, **second),
        ),
        worlds=(World(0, ()), World(1, (), "0000000040-0", 40)),
        head_step=200,
    )
    ledger = compute(facts)
    assert ledger.instance_ns == 28.5 * SECOND
    assert seconds(ledger, "useful") == 4 + 16
    assert seconds(ledger, "recomputed") == 2
    assert seconds(ledger, "checkpoint") == 1
    # Start, detection and stopping of attempt 0, the gap between both, start of attempt 1.
    assert seconds(ledger, "restart") == 2 + 1 + 0.5 + 1
    assert seconds(ledger, "idle") == 1
    assert ledger.paid == round(20 / 28.5, 6)
    assert ledger.user == round(20 / 60, 6)


def test_a_later_fall_back_takes_back_what_an_earlier_attempt_had_kept():
    facts = Facts(
        record=record(attempt=2, phase=Phase.SUCCEEDED, ended_ns=T0 + 60 * SECOND),
        entries=(
            entry(0, 0, 0, start_s=0, total_s=10, train_ns=10 * SECOND, last_step=100),
            entry(0, 0, 1, start_s=10, total_s=1, train_ns=SECOND, first_step=100, last_step=110),
        ),
        worlds=(World(1, (), "0000000100-0", 100), World(2, (), "0000000050-0", 50)),
        head_step=200,
    )
    ledger = compute(facts)
    assert seconds(ledger, "useful") == 5
    assert seconds(ledger, "recomputed") == 5 + 1


def test_a_killed_agent_counts_by_its_last_beat_and_is_unknown_after_it():
    said = entry(1, 0, 0, start_s=1, total_s=7, train_ns=6 * SECOND, last_step=60)
    life = Live(1, 0, 0, seen_ns=T0 + 8 * SECOND, entry=said)
    facts = Facts(
        record=SUCCEEDED,
        lives=(life,),
        worlds=(World(1, (), "0000000040-0", 40),),
        head_step=200,
    )
    ledger = compute(facts)
    assert ledger.instance_ns == 9 * SECOND
    assert seconds(ledger, "useful") == 4
    assert seconds(ledger, "recomputed") == 2
    assert seconds(ledger, "unknown") == 1 + 2


def test_an_agent_that_never_beat_is_unknown_for_its_whole_attempt():
    ledger = compute(Facts(record=SUCCEEDED, lives=(Live(1, 0, 0, seen_ns=0),)))
    assert ledger.labels["unknown"] == ledger.instance_ns == 10 * SECOND


def test_work_of_a_running_attempt_is_pending_until_a_commit_covers_it():
    said = entry(0, 0, 1, start_s=10, total_s=10, train_ns=10 * SECOND, first_step=40, last_step=80)
    life = Live(0, 0, 1, seen_ns=T0 + 20 * SECOND, entry=said)
    facts = Facts(record=record(), lives=(life,), head_step=60, now_ns=T0 + 22 * SECOND)
    ledger = compute(facts)
    assert seconds(ledger, "useful") == 5
    assert seconds(ledger, "pending") == 5 + 2


def test_work_that_no_commit_covers_is_lost_when_the_job_fails():
    failed = record(phase=Phase.FAILED, ended_ns=T0 + 30 * SECOND)
    said = entry(0, 0, 1, start_s=10, total_s=10, train_ns=10 * SECOND, first_step=40, last_step=80)
    ledger = compute(Facts(record=failed, entries=(said,), head_step=60))
    assert seconds(ledger, "useful") == seconds(ledger, "recomputed") == 5


def test_an_entry_that_claims_more_than_its_span_loses_useful_time_first():
    said = entry(0, 0, 1, start_s=0, total_s=4, train_ns=9 * SECOND, last_step=9, idle_ns=SECOND)
    ledger = compute(Facts(record=SUCCEEDED, entries=(said,)))
    assert ledger.instance_ns == 4 * SECOND
    assert seconds(ledger, "idle") == 1
    assert seconds(ledger, "useful") == 3


def test_capacity_counts_only_the_time_in_which_all_slots_were_there():
    both = tuple(
        entry(slot, 0, 1, start_s=slot * 5, total_s=10 - slot * 5, train_ns=2 * SECOND, last_step=4)
        for slot in (0, 1)
    )
    ledger = compute(Facts(record=SUCCEEDED, entries=both))
    assert ledger.capacity == round(4 / (2 * 5), 6)


def test_a_job_without_any_sign_of_life_has_no_ratio():
    ledger = compute(Facts(record=record(), now_ns=T0))
    assert ledger.instance_ns == 0
    assert ledger.paid is None


NS = st.integers(0, 40 * SECOND)
PACES = st.builds(
    Pace,
    rank=st.integers(0, 5),
    all_steps=st.integers(0, 300),
    all_ns=st.integers(0, 300) | NS,
    spread_ns=st.integers(0, 10**6),
)
ENTRIES = st.builds(
    LedgerEntry,
    slot=st.integers(0, 2),
    incarnation=st.integers(0, 2),
    attempt=st.integers(0, 3),
    start_ns=NS.map(lambda ns: T0 + ns),
    total_ns=NS,
    restart_ns=NS,
    stall_ns=NS,
    first_step=st.integers(0, 300),
    last_step=st.integers(0, 300),
    train_ns=NS,
    idle_ns=NS,
    end_ns=st.one_of(st.just(0), NS.map(lambda ns: T0 + ns)),
    born_ns=st.one_of(st.just(0), NS.map(lambda ns: T0 + ns)),
    paces=st.lists(PACES, max_size=2).map(tuple),
)


@st.composite
def facts(draw: st.DrawFn) -> Facts:
    attempt = draw(st.integers(0, 3))
    history = tuple(
        PastAttempt(a, T0 + draw(NS), KILLED, True) for a in range(attempt + draw(st.booleans()))
    )
    phase = draw(st.sampled_from(Phase))
    entries = draw(st.lists(ENTRIES, max_size=8))
    lives = [
        Live(e.slot, e.incarnation, e.attempt, T0 + draw(NS), draw(st.sampled_from([e, None])))
        for e in draw(st.lists(ENTRIES, max_size=4))
    ]
    return Facts(
        record=record(
            plan=plan(nodes=3),
            phase=phase,
            attempt=attempt,
            history=history,
            seats=tuple(Seat(slot, draw(st.integers(0, 2))) for slot in range(3)),
            ended_ns=T0 + draw(NS) if phase.is_terminal else None,
        ),
        entries=tuple(entries),
        lives=tuple(lives),
        worlds=tuple(World(a, (), None, draw(st.integers(0, 300))) for a in range(attempt + 1)),
        head_step=draw(st.integers(0, 300)),
        now_ns=T0 + draw(NS),
    )


@given(facts())
def test_the_labels_always_sum_to_the_instance_time_exactly(some: Facts) -> None:
    ledger = compute(some)
    assert tuple(ledger.labels) == LABELS
    assert sum(ledger.labels.values()) == ledger.instance_ns
    assert all(isinstance(v, int) and v >= 0 for v in ledger.labels.values())
