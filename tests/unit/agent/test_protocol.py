"""What an agent does next: a table of sights and moves."""

from __future__ import annotations

import pytest

from phalanx import names
from phalanx.agent.protocol import (
    FREEZE_STEP_S,
    Freeze,
    Join,
    Leave,
    Me,
    Prepare,
    Ranks,
    SaveFirst,
    Seal,
    Seen,
    StartRanks,
    StopRanks,
    Wait,
    WriteEnd,
    decide,
    noticed,
)
from phalanx.clock import SECOND_NS
from phalanx.frozen import replace
from phalanx.plan.lineage import Origin
from phalanx.state.gang import Head, World
from phalanx.state.record import Record, StopRequest
from phalanx.words import FailureClass, Outcome, Phase
from tests.support.records import JOB, T0, end, member, record, world

BOTH = (member(0), member(1))


def me(slot: int = 0, **changes: object) -> Me:
    """Ready for attempt 0."""
    made = Me(slot, 0, names.token(JOB, slot, 0, 0), attempt=0, ready=member(slot))
    return replace(made, **changes)


def at_work(**changes: object) -> Me:
    return me(ranks=Ranks.RUNNING, **changes)


def sight(**changes: object) -> Seen:
    return replace(Seen(record()), **changes)


class TestWhetherToStay:
    def test_without_a_record_it_leaves(self) -> None:
        assert isinstance(decide(me(), Seen(None), 0), Leave)

    def test_another_incarnation_has_the_seat(self) -> None:
        job = record()
        newer = replace(job, seats=(replace(job.seats[0], incarnation=1), job.seats[1]))
        assert isinstance(decide(me(attempt=None), Seen(newer), 0), Leave)

    def test_another_try_has_the_seat(self) -> None:
        job = record()
        newer = replace(job, seats=(replace(job.seats[0], tries=1), job.seats[1]))
        assert isinstance(decide(me(attempt=None), Seen(newer), 0), Leave)

    def test_ranks_are_stopped_before_it_leaves(self) -> None:
        job = record()
        newer = replace(job, seats=(replace(job.seats[0], incarnation=1), job.seats[1]))
        assert isinstance(decide(at_work(), Seen(newer), 0), StopRanks)
        assert isinstance(decide(me(ranks=Ranks.STOPPING), Seen(newer), 0), Wait)

    @pytest.mark.parametrize("phase", [Phase.SUCCEEDED, Phase.FAILED, Phase.STOPPED])
    def test_a_terminal_job_needs_nobody(self, phase: Phase) -> None:
        assert isinstance(decide(me(), Seen(record(phase=phase)), 0), Leave)

    def test_a_slot_that_the_job_does_not_have_is_no_seat(self) -> None:
        stranger = Me(7, 0, names.token(JOB, 7, 0, 0))
        assert isinstance(decide(stranger, sight(), 0), Leave)


class TestTowardAWorld:
    def test_a_new_attempt_is_prepared(self) -> None:
        assert decide(me(attempt=None, ready=None), sight(), 0) == Prepare(0)
        assert decide(me(), Seen(record(attempt=1)), 0) == Prepare(1)

    def test_ranks_of_the_old_attempt_are_stopped_first(self) -> None:
        assert isinstance(decide(at_work(), Seen(record(attempt=1)), 0), StopRanks)
        stopping = me(ranks=Ranks.STOPPING)
        assert isinstance(decide(stopping, Seen(record(attempt=1)), 0), Wait)
        ended = me(ranks=Ranks.ENDED, end=end(0))
        assert decide(ended, Seen(record(attempt=1)), 0) == Prepare(1)

    def test_it_joins_once(self) -> None:
        assert decide(me(), sight(), 0) == Join(member(0))
        assert isinstance(decide(me(), sight(members=(member(0),)), 0), Wait)

    def test_an_old_incarnation_of_another_slot_is_no_member(self) -> None:
        seen = sight(members=(member(0), member(1, incarnation=9)))
        assert isinstance(decide(noticed(me(), seen, 0), seen, 10**12), Wait)

    def test_the_first_member_seals_at_once_and_others_wait_their_turn(self) -> None:
        seen = sight(members=BOTH)
        assert isinstance(decide(noticed(me(0), seen, 0), seen, 0), Seal)
        second = noticed(me(1), seen, 0)
        waits = decide(second, seen, 0)
        assert isinstance(waits, Wait)
        assert waits.seconds == FREEZE_STEP_S
        assert isinstance(decide(second, seen, int(FREEZE_STEP_S * SECOND_NS)), Seal)

    def test_the_turn_begins_when_all_are_there(self) -> None:
        waiting = noticed(me(1), sight(members=(member(1),)), 5)
        assert waiting.complete_since_ns is None
        complete = noticed(waiting, sight(members=BOTH), 7)
        assert complete.complete_since_ns == 7
        assert noticed(complete, sight(members=BOTH), 9).complete_since_ns == 7
        assert noticed(complete, sight(members=(member(1),)), 9).complete_since_ns is None

    def test_the_seal_names_the_head_that_was_seen(self) -> None:
        head = Head(0, "0000000010-0")
        job = record(attempt=1, unreadable=("0000000010-0",))
        members = tuple(member(n, attempt=1) for n in range(2))
        seen = Seen(job, members, head=head, head_version="v3")
        mine = me(attempt=1, ready=members[0], complete_since_ns=0)
        assert decide(mine, seen, 0) == Seal(1, head, "v3", ("0000000010-0",))

    def test_the_world_names_what_the_seal_kept(self) -> None:
        seen = sight(members=BOTH, head=Head(0, None))
        move = decide(me(complete_since_ns=0), seen, 0)
        assert isinstance(move, Freeze)
        assert (move.world.checkpoint, move.world.checkpoint_step) == (None, 0)
        assert move.world.members == BOTH
        members = tuple(member(n, attempt=1) for n in (1, 0))
        seen = Seen(record(attempt=1), members, head=Head(1, "0000000010-0"))
        move = decide(me(attempt=1, ready=members[1], complete_since_ns=0), seen, 0)
        assert isinstance(move, Freeze)
        assert (move.world.checkpoint, move.world.checkpoint_step) == ("0000000010-0", 10)
        assert [m.slot for m in move.world.members] == [0, 1]

    def test_before_a_commit_the_world_begins_where_the_job_began(self) -> None:
        for take, first in (("weights", 0), ("all", 40)):
            origin = Origin(take, job="base-1", checkpoint="0000000040-0", step=40)
            made = record()
            job = replace(made, plan=replace(made.plan, init_from=origin))
            move = decide(me(complete_since_ns=0), Seen(job, BOTH, head=Head(0)), 0)
            assert isinstance(move, Freeze)
            assert (move.world.checkpoint, move.world.checkpoint_step) == (None, first)

    def test_a_head_of_a_newer_attempt_means_give_up(self) -> None:
        seen = sight(members=BOTH, head=Head(1, None))
        assert isinstance(decide(me(complete_since_ns=0), seen, 0), Wait)


class TestInAWorld:
    def test_ranks_start_once(self) -> None:
        assert decide(me(), sight(world=world()), 0) == StartRanks(world())
        assert isinstance(decide(at_work(), sight(world=world()), 0), Wait)

    def test_a_world_without_this_incarnation_starts_nothing(self) -> None:
        foreign = world(members=(member(0, incarnation=4), member(1)))
        assert isinstance(decide(me(), sight(world=foreign), 0), Wait)

    @pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.STOPPED])
    def test_anybodys_bad_end_stops_the_ranks(self, outcome: Outcome) -> None:
        seen = sight(world=world(), ends=(end(1, outcome, exit_code=1),))
        assert isinstance(decide(at_work(), seen, 0), StopRanks)
        assert isinstance(decide(me(), seen, 0), Wait)

    def test_a_good_end_elsewhere_stops_nobody(self) -> None:
        assert isinstance(decide(at_work(), sight(world=world(), ends=(end(1),)), 0), Wait)

    def test_an_end_of_an_old_incarnation_is_nobodys(self) -> None:
        stale = end(1, Outcome.FAILED, exit_code=1, incarnation=3)
        assert isinstance(decide(at_work(), sight(world=world(), ends=(stale,)), 0), Wait)

    def test_a_hang_elsewhere_is_told_apart(self) -> None:
        hang = end(1, Outcome.FAILED, exit_code=1, failure=FailureClass.HANG)
        move = decide(at_work(), sight(world=world(), ends=(hang,)), 0)
        assert isinstance(move, StopRanks)
        assert move.is_hang

    def test_the_end_is_written_once(self) -> None:
        ended = me(ranks=Ranks.ENDED, end=end(0))
        assert decide(ended, sight(world=world()), 0) == WriteEnd(end(0))
        assert isinstance(decide(ended, sight(world=world(), ends=(end(0),)), 0), Wait)


class TestBowingOut:
    ending = record(phase=Phase.STOPPING, ending=Phase.STOPPED)

    def test_the_users_stop_gives_the_ranks_their_grace(self) -> None:
        move = decide(at_work(), Seen(self.ending), 0)
        assert isinstance(move, StopRanks)
        assert move.by_user
        failed = replace(self.ending, ending=Phase.FAILED)
        move = decide(at_work(), Seen(failed), 0)
        assert isinstance(move, StopRanks)
        assert not move.by_user

    def test_it_says_how_the_ranks_ended_before_it_leaves(self) -> None:
        ended = me(ranks=Ranks.ENDED, end=end(0, Outcome.STOPPED))
        assert isinstance(decide(ended, Seen(self.ending), 0), WriteEnd)
        told = Seen(self.ending, ends=(end(0, Outcome.STOPPED),))
        assert isinstance(decide(ended, told, 0), Leave)

    def test_a_stop_with_save_saves_first(self) -> None:
        saving = replace(self.ending, stop=StopRequest(T0, save=True))
        assert isinstance(decide(at_work(), Seen(saving), 0), SaveFirst)
        assert isinstance(decide(at_work(save_settled=True), Seen(saving), 0), StopRanks)

    def test_a_departing_task_saves_ends_its_ranks_and_leaves(self) -> None:
        assert isinstance(decide(at_work(asked_to_leave=True), sight(world=world()), 0), SaveFirst)
        settled = at_work(asked_to_leave=True, save_settled=True)
        assert isinstance(decide(settled, sight(world=world()), 0), StopRanks)
        idle = me(asked_to_leave=True)
        assert isinstance(decide(idle, sight(), 0), Leave)

    def test_nothing_is_saved_for_an_attempt_that_is_over(self) -> None:
        departing = at_work(asked_to_leave=True)
        assert isinstance(decide(departing, Seen(record(attempt=1)), 0), StopRanks)
        broken = sight(world=world(), ends=(end(1, Outcome.FAILED, exit_code=1),))
        assert isinstance(decide(departing, broken, 0), StopRanks)


class TestStandingBy:
    """Three slots, the middle one parked."""

    def job(self) -> Record:
        made = record(3)
        seats = tuple(replace(s, parked=s.slot == 1) for s in made.seats)
        return replace(made, plan=replace(made.plan, min_nodes=2), seats=seats)

    def test_a_parked_agent_gets_ready_and_waits(self) -> None:
        seen = Seen(self.job(), world=World(0, (member(0), member(2))))
        assert isinstance(decide(me(1, attempt=None), seen, 0), Prepare)
        assert isinstance(decide(me(1, ready=None), seen, 0), Prepare)
        assert decide(me(1), seen, 0) == Join(member(1))
        assert isinstance(decide(me(1), replace(seen, members=(member(1),)), 0), Wait)

    def test_one_that_cannot_get_ready_leaves(self) -> None:
        failed = me(1, ranks=Ranks.ENDED, end=end(1, Outcome.FAILED, exit_code=1))
        assert isinstance(decide(failed, Seen(self.job()), 0), Leave)

    def test_it_leaves_when_it_is_told_to_or_the_job_ends(self) -> None:
        assert isinstance(decide(me(1, asked_to_leave=True), Seen(self.job()), 0), Leave)
        over = replace(self.job(), ending=Phase.SUCCEEDED)
        assert isinstance(decide(me(1), Seen(over), 0), Leave)

    def test_nobody_waits_for_it_and_it_is_in_no_world(self) -> None:
        members, head = (member(0), member(1), member(2)), Head(0, None)
        seen = Seen(self.job(), members, head=head)
        move = decide(noticed(me(0), seen, 0), seen, 0)
        assert isinstance(move, Freeze)
        assert [m.slot for m in move.world.members] == [0, 2]
        alone = Seen(self.job(), members[:2], head=head)
        assert isinstance(decide(noticed(me(0), alone, 0), alone, 0), Wait)

    def test_the_turn_to_freeze_goes_by_the_position_among_those_that_take_part(self) -> None:
        seen = Seen(self.job(), (member(0), member(2)), head=Head(0, None))
        waiting = replace(me(2), complete_since_ns=0)
        early = decide(waiting, seen, int(0.9 * FREEZE_STEP_S * SECOND_NS))
        assert isinstance(early, Wait)
        assert isinstance(decide(waiting, seen, int(FREEZE_STEP_S * SECOND_NS)), Freeze)

    def test_its_ending_breaks_no_attempt(self) -> None:
        world_of_two = World(0, (member(0), member(2)))
        ends = (end(1, Outcome.FAILED, exit_code=1),)
        assert isinstance(decide(at_work(), Seen(self.job(), (), world_of_two, ends), 0), Wait)
