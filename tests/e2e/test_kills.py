"""kill -9 of anything: the job goes on, with the very losses of an undisturbed run."""

from __future__ import annotations

from pathlib import Path

from tests.support.gang import children, kill
from tests.support.harm import STEPS, ended_as_if_nothing_had_happened
from tests.support.waiting import until

LATE = Path(__file__).parents[1] / "support" / "late_join.py"
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


def test_the_collective_store_before_anybody_has_joined(new_gang):
    """Its death with a warm parent would otherwise leave every rank waiting for it."""
    gang = new_gang(
        nodes=2, ranks=1, steps=5, step_s=0, script=LATE, command=["python", "train.py"]
    )
    gang.start()
    until(lambda: all(gang.object(f"files/pid.{rank}").exists() for rank in range(2)), 60)
    ranks = [gang.rank_pid(rank) for rank in range(2)]
    for pid in children(gang.warm_pid(0)):
        if pid not in ranks:
            kill(pid)
    gang.object("files/go").touch()
    status = gang.wait()
    assert status["phase"] == "Succeeded", status
    (past,) = status["history"]
    assert past["first_cause"]["class"] == "Hang"
    assert "the collective store" in past["first_cause"]["message"]
    gang.assert_nothing_lives()
