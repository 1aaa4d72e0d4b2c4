"""kill -9 of anything: the job goes on, with the very losses of an undisturbed run."""

from __future__ import annotations

from tests.support.gang import kill
from tests.support.harm import STEPS, ended_as_if_nothing_had_happened
from tests.support.waiting import until

FOUR = {"nodes": 2, "ranks": 2, "steps": STEPS, "step_s": 0.03}


def test_ranks(new_gang, undisturbed):
    gang = new_gang(**FOUR).start()
    gang.reach(15)
    kill(gang.rank_pid(3))
    gang.reach(30, attempt=1)
    assert gang.causes() == [("Killed", 1, 3)]
    assert "rank 3" in gang.why()["first_cause"]["message"]
    kill(gang.rank_pid(0))
    kill(gang.rank_pid(1))
    gang.reach(45, attempt=2)
    kill(gang.rank_pid(1))
    kill(gang.rank_pid(2))
    ended_as_if_nothing_had_happened(gang, undisturbed)
    both, apart = gang.causes()[1:]
    assert both[:2] == ("Killed", 0)
    assert apart[0] == "Killed"
    assert apart[2] in (1, 2)


def test_agents_and_a_warm_parent(new_gang, undisturbed):
    gang = new_gang(**FOUR).start()
    gang.reach(15)
    kill(gang.warm_pid(1))
    gang.reach(30, attempt=1)
    kill(gang.agent_pid(0))
    gang.reach(45, attempt=2)
    kill(gang.agent_pid(1))
    ended_as_if_nothing_had_happened(gang, undisturbed)
    warm, first, second = gang.causes()
    assert warm[:2] == ("Killed", 1)
    assert first[:2] == ("Killed", 0)
    assert second[:2] == ("Killed", 1)
    assert [task["incarnation"] for task in gang.status()["tasks"]] == [1, 1]


def test_controller_and_terminal(new_gang, undisturbed):
    gang = new_gang(**FOUR)
    terminal = gang.follow()
    gang.reach(10)
    old = gang.controller_pid()
    kill(old)
    until(lambda: gang.controller_pid() != old)
    old = gang.controller_pid()
    kill(terminal.pid)
    kill(old)
    assert terminal.end()[0] == -9
    kill(gang.rank_pid(2))
    gang.reach(20, attempt=1)
    assert gang.controller_pid() != old
    ended_as_if_nothing_had_happened(gang, undisturbed)
    assert gang.causes() == [("Killed", 1, 2)]
