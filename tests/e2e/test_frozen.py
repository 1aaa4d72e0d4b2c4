"""SIGSTOP of a host, an agent or a warm parent: the gang goes on, what wakes up later leaves."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.e2e.test_stopped import ended_well, state_of, stop
from tests.support.gang import kill
from tests.support.waiting import until

HANG = "hang: {after: 2s}\n"


def test_a_frozen_host_is_replaced_and_leaves_when_it_wakes_up(new_gang):
    gang = new_gang(nodes=2, steps=150, step_s=0.04, extra=HANG).start()
    gang.reach(12)
    old = [gang.agent_pid(1), gang.warm_pid(1), gang.rank_pid(1)]
    stop(*old)
    gang.reach(30, attempt=1, timeout_s=90)
    head = gang.head()
    for pid in old:
        kill(pid, signal.SIGCONT)
    until(lambda: not any(state_of(pid) for pid in old))
    assert gang.head().attempt == head.attempt == 1
    assert gang.causes() == [("Hang", 1, None)]
    ended_well(gang)
    assert gang.head().attempt == 1


def test_a_frozen_agent_and_a_frozen_warm_parent(new_gang, counting):
    """Both are found by silence alone, which takes its time: two jobs at once."""
    warm_job = new_gang(nodes=2, steps=200, step_s=0.05, extra=HANG).start()
    warm_job.reach(1)
    agent_job = counting(steps=120, step_s=0.05).start()
    agent_job.reach(10)
    warm_job.reach(10)
    agent, warm = agent_job.agent_pid(1), warm_job.warm_pid(1)
    stop(agent, warm)
    kill(agent_job.rank_pid(0))
    kill(warm_job.rank_pid(0))
    for gang in (agent_job, warm_job):
        gang.wait(90)
    assert [cause[0] for cause in agent_job.causes()] == ["Killed", "HostLost"]
    assert agent_job.causes()[1][1] == 1
    assert warm_job.causes()[0][:2] == ("Killed", 0)
    kill(agent, signal.SIGCONT)
    kill(warm, signal.SIGCONT)
    ended_well(agent_job)
    ended_well(warm_job)
    assert not Path(f"/proc/{agent}").exists() or state_of(agent) == ""
