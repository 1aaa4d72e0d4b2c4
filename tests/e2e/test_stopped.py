"""SIGSTOP, replace, SIGCONT: nobody is blocked meanwhile, and nothing old is ever committed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from phalanx.names import checkpoint_name
from tests.support.gang import Gang, kill
from tests.support.waiting import until

ZOMBIE = Path(__file__).parents[1] / "support" / "zombie.py"


def state_of(pid: int) -> str:
    """One letter of /proc; '' when the process has ended."""
    try:
        letter = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
    return "" if letter in "ZX" else letter


def stop(*pids: int) -> None:
    for pid in pids:
        kill(pid, signal.SIGSTOP)
        until(lambda pid=pid: state_of(pid) in ("T", ""))


def ended_well(gang: Gang) -> None:
    assert gang.wait()["phase"] == "Succeeded", gang.status()
    for rank in range(gang.world_size):
        assert sorted(gang.losses(rank)) == list(range(gang.steps))
    gang.assert_nothing_lives()


def test_a_stopped_rank_does_not_hold_up_the_next_attempt(counting):
    gang = counting(steps=80, step_s=0.04).start()
    gang.reach(10)
    frozen, other = gang.rank_pid(0), gang.rank_pid(1)
    stop(frozen)
    kill(other)
    gang.reach(15, attempt=1)
    assert state_of(frozen) == ""
    ended_well(gang)
    assert gang.causes() == [("Killed", 1, 1)]


def test_a_frozen_host_that_is_replaced(counting):
    """Agent and rank of slot 1 stand still; both are gone when the next attempt trains."""
    gang = counting(steps=80, step_s=0.04).start()
    gang.reach(10)
    agent, frozen = gang.agent_pid(1), gang.rank_pid(1)
    stop(agent, frozen)
    kill(gang.rank_pid(0))
    until(lambda: gang.status()["attempt"] == 1)
    kill(agent)
    gang.reach(15, attempt=2)
    assert state_of(frozen) == ""
    ended_well(gang)
    assert [cause[:2] for cause in gang.causes()] == [("Killed", 0), ("Killed", 1)]


def test_a_frozen_host_that_wakes_up(counting):
    """SIGCONT after another slot's rank has died: the old rank is replaced like every other."""
    gang = counting(steps=80, step_s=0.04).start()
    gang.reach(10)
    agent, frozen = gang.agent_pid(1), gang.rank_pid(1)
    stop(agent, frozen)
    kill(gang.rank_pid(0))
    until(lambda: gang.status()["attempt"] == 1)
    kill(frozen, signal.SIGCONT)
    kill(agent, signal.SIGCONT)
    gang.reach(15, attempt=1)
    assert state_of(frozen) == ""
    ended_well(gang)
    assert gang.causes() == [("Killed", 0, 0)]


def test_what_an_old_attempt_writes_late_is_refused(counting):
    gang = counting(steps=80, step_s=0.04).start()
    gang.reach(10)
    words = (str(gang.root), gang.job, "0", "2", "1000")
    old = subprocess.Popen([sys.executable, str(ZOMBIE), *words], stdout=subprocess.PIPE)
    try:
        until(lambda: state_of(old.pid) == "T")
        kill(gang.rank_pid(1))
        gang.reach(15, attempt=1)
        assert gang.head().attempt == 1
        kill(old.pid, signal.SIGCONT)
        said = old.communicate(timeout=60)[0].decode()
    finally:
        old.kill()
    assert said.startswith("refused HEAD is sealed for attempt 1")
    ended_well(gang)
    assert gang.head().checkpoint == checkpoint_name(80, 1)
    listed = gang.call("checkpoints", gang.job)["checkpoints"]
    assert [one["committed"] for one in listed if one["step"] == 1000] in ([], [False])


def test_a_stopped_controller_is_replaced_and_harmless_when_it_wakes(counting):
    gang = counting(steps=80, step_s=0.05).start()
    gang.reach(5)
    old = gang.controller_pid()
    stop(old)
    until(lambda: gang.controller_pid() != old)
    kill(gang.rank_pid(1))
    gang.reach(10, attempt=1)
    kill(old, signal.SIGCONT)
    ended_well(gang)
    assert gang.causes() == [("Killed", 1, 1)]
