"""An agent that is cut off from the root stops its ranks before its slot can be replaced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from phalanx.agent.isolation import Isolation
from phalanx.agent.protocol import Leave, Me, Ranks, StopRanks, Wait, leave
from phalanx.frozen import replace
from phalanx.names import Keys, token
from phalanx.plan.job import JobPlan
from phalanx.state.record import Record, Seat
from phalanx.words import Phase
from tests.support.made_root import MadeRoot
from tests.support.waiting import until


def test_the_time_counts_from_the_start_of_the_last_good_read() -> None:
    isolation = Isolation(100.0)
    assert not isolation.is_over(110.0, 10.0)
    assert isolation.is_over(110.1, 10.0)
    isolation.read_begun_at(110.0)
    assert not isolation.is_over(120.0, 10.0)
    assert isolation.is_over(121.0, 10.0)


def test_a_row_of_failures_is_told_once() -> None:
    isolation = Isolation(0.0)
    assert isolation.failing_for_s(5.0) == 0.0
    assert [isolation.fails(now) for now in (5.0, 6.0)] == [True, False]
    assert isolation.failing_for_s(8.0) == 3.0
    isolation.works()
    assert isolation.failing_for_s(9.0) == 0.0
    assert isolation.fails(10.0)


def test_ranks_go_first() -> None:
    me = Me(0, 0, "token", attempt=0)
    moves = [
        leave(replace(me, ranks=ranks), "isolated")
        for ranks in (Ranks.RUNNING, Ranks.STOPPING, Ranks.ENDED, Ranks.NONE)
    ]
    assert [type(move) for move in moves] == [StopRanks, Wait, Leave, Leave]


def agent_of(made: MadeRoot, cut: Path, isolation_s: float) -> subprocess.Popen[str]:
    """A real agent with a real rank; once `cut` exists, nothing of the root can be read."""
    script = f"echo $$ > {made.path}/rank.new; mv {made.path}/rank.new {made.path}/rank; sleep 1000"
    plan = JobPlan(name="gpt", command=("sh", "-c", script), isolation_s=isolation_s)
    seats = (Seat(0, launched_ns=1),)
    made.put(Record("gpt-1", plan, 1, phase=Phase.STARTING, seats=seats))
    words = {
        "PHALANX_TASK": token("gpt-1", 0, 0, 0),
        "PHALANX_JOB": "gpt-1",
        "PHALANX_ROOT": str(made.path),
        "PHALANX_SLOT": "0",
        "PHALANX_INCARNATION": "0",
        "TMPDIR": str(made.path.parent),
    }
    argv = [sys.executable, "-m", "tests.support.cut_off_agent", str(cut)]
    return subprocess.Popen(argv, env={**os.environ, **words}, stderr=subprocess.PIPE, text=True)


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}/status").exists()


def test_an_agent_that_is_cut_off_stops_its_ranks_and_leaves(tmp_path: Path) -> None:
    made, cut = MadeRoot(tmp_path / "root"), tmp_path / "cut"
    agent = agent_of(made, cut, 0.5)
    try:
        until((made.path / "rank").exists)
        rank = int((made.path / "rank").read_text())
        cut.touch()
        said = agent.communicate(timeout=60)[1]
    finally:
        agent.kill()
    assert agent.returncode == 0, said
    assert "StoreUnreachable: the root is cut off" in said
    assert "leaving: isolated: no look at the record for 0.5 s" in said
    assert not is_alive(rank)


def test_an_agent_whose_reads_never_return_is_ended_with_its_ranks(tmp_path: Path) -> None:
    made, cut = MadeRoot(tmp_path / "root"), tmp_path / "cut"
    agent = agent_of(made, cut, 2.0)
    try:
        until((made.path / "rank").exists)
        rank = int((made.path / "rank").read_text())
        cut.with_name("new").write_text("block")
        cut.with_name("new").rename(cut)
        agent.communicate(timeout=60)
    finally:
        agent.kill()
    assert agent.returncode == -signal.SIGALRM
    until(lambda: not is_alive(rank))


def test_a_short_outage_disturbs_nobody(tmp_path: Path) -> None:
    made, cut = MadeRoot(tmp_path / "root"), tmp_path / "cut"
    agent = agent_of(made, cut, 600.0)
    try:
        until((made.path / "rank").exists)
        rank = int((made.path / "rank").read_text())
        beat = made.path / Keys("gpt-1").beat(0, 0, 0)
        until(beat.exists)
        cut.touch()
        assert agent.stderr is not None
        assert "StoreUnreachable" in agent.stderr.readline()
        cut.unlink()
        before = beat.stat().st_mtime_ns
        until(lambda: beat.stat().st_mtime_ns > before)
        assert is_alive(rank)
        assert agent.poll() is None
    finally:
        agent.kill()
        agent.communicate()
    until(lambda: not is_alive(rank))
