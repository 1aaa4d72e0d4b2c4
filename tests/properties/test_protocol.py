"""An agent's decisions: total, and never a move that its sight does not allow."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from phalanx import names
from phalanx.agent.protocol import (
    Freeze,
    Join,
    Leave,
    Me,
    Ranks,
    Seal,
    Seen,
    StartRanks,
    decide,
    is_seated,
    noticed,
)
from phalanx.state.gang import Head
from tests.properties.test_reconcile import CHECKPOINTS, SMALL, ends, records, sights
from tests.support.records import JOB, end, member


@st.composite
def agents(draw: st.DrawFn) -> Me:
    slot, incarnation, tries = draw(SMALL), draw(SMALL), draw(SMALL)
    attempt = draw(st.none() | SMALL)
    ranks = draw(st.sampled_from(Ranks))
    has_ended = ranks is Ranks.ENDED
    return Me(
        slot,
        incarnation,
        names.token(JOB, slot, incarnation, tries),
        attempt=attempt,
        ranks=ranks,
        ready=member(slot, attempt or 0, incarnation) if draw(st.booleans()) else None,
        end=end(slot, incarnation=incarnation, attempt=attempt or 0) if has_ended else None,
        complete_since_ns=draw(st.none() | st.integers(0, 10**9)),
        asked_to_leave=draw(st.booleans()),
        save_settled=draw(st.booleans()),
    )


@st.composite
def seens(draw: st.DrawFn) -> Seen:
    seen = draw(sights())
    record = draw(st.none() | records())
    return Seen(
        record=record,
        members=seen.members,
        world=seen.world,
        ends=tuple(draw(st.lists(ends(), max_size=2))),
        head=draw(st.none() | st.builds(Head, SMALL, CHECKPOINTS)),
        head_version="v1",
    )


@given(me=agents(), seen=seens(), now_ns=st.integers(0, 10**10))
def test_every_sight_has_a_move_that_it_allows(me: Me, seen: Seen, now_ns: int) -> None:
    me = noticed(me, seen, now_ns)
    move = decide(me, seen, now_ns)
    record = seen.record
    if isinstance(move, Leave):
        assert me.ranks not in (Ranks.RUNNING, Ranks.STOPPING)
    if isinstance(move, (Join, Seal, Freeze, StartRanks)):
        assert record is not None
        assert record.ending is None
        assert not record.phase.is_terminal
        assert is_seated(me, record)
        assert me.attempt == record.attempt
        assert not me.asked_to_leave
    if isinstance(move, Freeze):
        assert record is not None
        assert seen.head is not None
        assert seen.head.attempt == move.world.attempt == record.attempt
        assert move.world.checkpoint == seen.head.checkpoint
        seats = [(s.slot, s.incarnation) for s in record.active]
        assert [(m.slot, m.incarnation) for m in move.world.members] == seats
    if isinstance(move, Seal):
        assert seen.head is None or seen.head.attempt < move.attempt
    if isinstance(move, (Seal, Freeze, StartRanks)):
        assert not record.seats[me.slot].parked
    if isinstance(move, StartRanks):
        assert move.world.has(me.slot, me.incarnation)
        assert me.ranks is Ranks.NONE
