"""Ctrl-C at every phase of a followed job: exit 130, one line how to go on, and the job goes on."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from tests.support.gang import Gang, Terminal, kill
from tests.support.waiting import until


def leaves(gang: Gang, terminal: Terminal) -> None:
    """The terminal ends at one Ctrl-C, having said how to watch and how to stop the job."""
    terminal.ctrl_c()
    line = terminal.said("goes on")
    assert f"phalanx status {gang.job} --root" in line
    assert f"phalanx stop {gang.job} --root" in line
    code, out, err = terminal.end()
    assert code == 130
    assert out == err == ""


def test_before_the_job_exists(counting):
    """The job file is still being read: a pipe in its place holds that up."""
    gang = counting()
    gang.file.unlink()
    os.mkfifo(gang.file)
    terminal = Terminal(gang)
    writer = until(lambda: _open_once_read(str(gang.file)))
    terminal.ctrl_c()
    code, out, err = terminal.end()
    os.close(writer)
    assert (code, out, err.strip()) == (130, "", "phalanx: interrupted")
    assert not gang.root.exists()


def _open_once_read(pipe: str) -> int | None:
    """A descriptor for writing, once somebody has the pipe open for reading."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


@pytest.mark.parametrize("sign", ["", "jobs/gang-1", "jobs/gang-1/controller.log"])
def test_however_early_it_comes_a_job_that_exists_goes_on(counting, sign):
    """To the whole process group, as a terminal does it, at the first sign of the job."""
    gang = counting(steps=10)
    terminal = Terminal(gang)
    until((gang.root / sign).exists)
    os.killpg(terminal.pid, signal.SIGINT)
    code, out, err = terminal.end()
    assert code == 130
    if not out:
        assert err.strip() == "phalanx: interrupted"
        assert not list(gang.root.glob("jobs/*"))
        return
    gang.job = out.strip()
    assert f"{gang.job} goes on" in err
    assert gang.wait()["phase"] == "Succeeded"
    gang.assert_nothing_lives()


def test_while_it_starts(counting):
    gang = counting(steps=60, step_s=0.03)
    terminal = gang.follow()
    leaves(gang, terminal)
    gang.reach(3)
    kill(gang.rank_pid(0))
    assert gang.wait()["phase"] == "Succeeded"
    gang.assert_nothing_lives()


def test_while_it_restarts(counting):
    gang = counting(steps=60, step_s=0.03)
    terminal = gang.follow()
    gang.reach(3)
    kill(gang.rank_pid(0))
    terminal.said("attempt 0 ended: Killed")
    leaves(gang, terminal)
    assert gang.wait()["phase"] == "Succeeded"
    gang.assert_nothing_lives()


def test_while_it_stops(counting):
    words = "trap '' TERM; touch up; while :; do sleep 0.1; done"
    gang = counting(nodes=1, command=["sh", "-c", words], extra="stop: {grace: 2s}\n")
    terminal = gang.follow()
    until(lambda: list(gang.root.rglob("up")))
    stopping = threading.Thread(target=gang.run, args=("stop", gang.job))
    stopping.start()
    terminal.said("Stopping")
    leaves(gang, terminal)
    stopping.join()
    assert gang.status()["phase"] == "Stopped"
    gang.assert_nothing_lives()


def test_a_second_ctrl_c_saves_and_stops(counting):
    gang = counting(steps=100_000, step_s=0.02)
    terminal = gang.follow()
    gang.reach(8)
    terminal.ctrl_c()
    terminal.said("goes on")
    terminal.ctrl_c()
    code, _, err = terminal.end()
    assert code == 130
    assert err == f"phalanx: asked {gang.job} to save and stop\n"
    assert gang.wait()["phase"] == "Stopped"
    gang.assert_nothing_lives()
