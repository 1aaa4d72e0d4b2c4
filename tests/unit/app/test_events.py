from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from phalanx.app.events import events
from phalanx.app.jobs import Job
from phalanx.app.look import Look
from phalanx.app.root import open_root
from phalanx.plan.lineage import Origin
from phalanx.state.gang import Head, Member, World
from phalanx.state.record import Record, Seat
from phalanx.words import Phase
from tests.support.made_root import record


@pytest.fixture
def see(tmp_path: Path):
    root = open_root(str(tmp_path), create=True)

    def make(value: Record, head: str | None = None, world: World | None = None) -> Look:
        named = Head(value.attempt, head)
        return Look(Job(root, value.job, value, ""), named, world, (), (), ())

    return make


FIRST = record(attempt=0, history=(), seats=(Seat(0), Seat(1)))


def test_a_restart_is_told_with_its_cause_its_step_and_who_is_replaced(see):
    after = record(head_at_open="0000000040-0")
    assert events(see(FIRST), see(after)) == [
        "attempt 0 ended: Killed: rank 1 (slot 1) was killed by SIGKILL",
        "attempt 1 restarts from step 40; slot 1 gets a new task",
    ]


def test_when_only_ranks_are_replaced_all_tasks_stay(see):
    after = record(seats=FIRST.seats)
    assert events(see(FIRST), see(after))[-1] == (
        "attempt 1 restarts from the beginning; all tasks stay"
    )


def test_a_commit_is_told_once(see):
    before, after = see(FIRST), see(FIRST, "0000000040-0")
    assert events(before, after) == ["checkpoint of step 40 is committed"]
    assert events(after, after) == []


def test_a_world_is_told_once_for_each_attempt(see):
    world = World(0, (Member(0, 0, 0, "127.0.0.1", 1, ranks=2),))
    before, after = see(FIRST), see(FIRST, world=world)
    assert events(before, after) == ["attempt 0: 2 ranks agreed to go on from the beginning"]
    assert events(after, after) == []


def test_a_world_says_what_the_job_begins_from(see):
    origin = Origin("all", job="base-1", checkpoint="0000000040-0", step=40)
    first = replace(FIRST, plan=replace(FIRST.plan, init_from=origin))
    world = World(0, (Member(0, 0, 0, "127.0.0.1", 1, ranks=1),), checkpoint_step=40)
    assert events(see(first), see(first, world=world)) == [
        "attempt 0: 1 rank agreed to go on from everything of step 40 of base-1"
    ]


def test_whoever_comes_late_hears_what_has_happened(see):
    assert events(None, see(record())) == [
        "attempt 0 ended: Killed: rank 1 (slot 1) was killed by SIGKILL"
    ]


def test_waiting_stopping_and_warnings_are_told(see):
    pending = replace(FIRST, phase=Phase.PENDING, message="waiting for a controller")
    assert events(None, see(pending)) == ["Pending: waiting for a controller"]
    warned = replace(FIRST, warning="a task would not end")
    assert events(see(FIRST), see(warned)) == ["warning: a task would not end"]
    waiting = record(reason="BackingOff", message="killed; trying again in 2 s")
    assert events(see(record()), see(waiting)) == ["waiting: killed; trying again in 2 s"]
    assert events(see(waiting), see(waiting)) == []
    stopping = replace(FIRST, phase=Phase.STOPPING, message="asked to stop")
    assert events(see(FIRST), see(stopping)) == ["Stopping: asked to stop"]


def test_an_attempt_that_began_and_ended_between_two_looks_is_told_in_order(see):
    past = record().history[0]
    world = World(0, (Member(0, 0, 0, "127.0.0.1", 1, ranks=1),))
    after = replace(FIRST, history=(past,), phase=Phase.FAILED)
    assert events(see(FIRST), see(after, world=world)) == [
        "attempt 0: 1 rank agreed to go on from the beginning",
        "attempt 0 ended: Killed: rank 1 (slot 1) was killed by SIGKILL",
    ]
