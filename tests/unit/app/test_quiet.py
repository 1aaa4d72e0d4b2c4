"""Whoever waited for a job's end, or rest, finds nobody of it left here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from phalanx.app.jobs import Job, load
from phalanx.app.quiet import QUIET_S, until_quiet
from phalanx.app.remove import Onlooker, Sweepers, remove_view
from phalanx.app.rest import until_paused, until_stopped
from phalanx.backends.local.drivers import controllers, senders
from phalanx.errors import StoreUnavailable
from phalanx.state.record import PauseRequest
from phalanx.words import Phase
from tests.support.clocks import SleepingClock
from tests.support.made_root import T0, MadeRoot, ended_job, record
from tests.support.waiting import until

SLEEP = "import time; time.sleep(600)"
REMAKE = "import os, sys\nwhile True: os.makedirs(sys.argv[1], exist_ok=True)"
PAUSED = {"phase": Phase.PAUSED, "ending": Phase.PAUSED, "pause": PauseRequest(T0)}


class Heard(Onlooker):
    def __init__(self) -> None:
        self.said: list[str] = []
        self.gone: list[str] = []

    def says(self, text: str) -> None:
        self.said.append(text)

    def removed(self, job: str) -> None:
        self.gone.append(job)


class Others:
    """Processes that look like a job's controller and like what that hands a message to."""

    def __init__(self, made: MadeRoot) -> None:
        self.made = made
        self.running: list[subprocess.Popen[bytes]] = []

    def controller(self, job: str = "gpt-1", root: Path | None = None) -> subprocess.Popen[bytes]:
        words = ["-m", "phalanx.controller", "--root", str(root or self.made.path), "--job", job]
        return self._start([SLEEP, *words], {})

    def sender(self, job: str = "gpt-1", created_ns: int = T0) -> subprocess.Popen[bytes]:
        """It makes the job's folder anew, again and again."""
        folder = str(self.made.path / "jobs" / job / "mine")
        return self._start([REMAKE, folder], {"PHALANX_ID": f"{job}.{created_ns}.ended-0"})

    def _start(self, words: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([sys.executable, "-c", *words], env={**os.environ, **env})
        self.running.append(process)
        return process


@pytest.fixture
def made(tmp_path: Path) -> MadeRoot:
    return MadeRoot(tmp_path / "root")


@pytest.fixture
def others(made: MadeRoot) -> Iterator[Others]:
    others = Others(made)
    yield others
    for process in others.running:
        process.kill()
        process.wait()


def nobody(root: object, job: str) -> None:
    return None


def test_only_those_of_this_very_job_are_meant(made: MadeRoot, others: Others) -> None:
    mine = others.controller()
    others.controller("gpt-11")
    others.controller(root=made.path.parent)
    sender = others.sender()
    others.sender("gpt-11")
    others.sender(created_ns=T0 + 1)  # a job of that name under another root
    until(lambda: len(controllers(str(made.path), "gpt-1")) + len(senders("gpt-1", T0)) == 2)
    until(lambda: len(senders("gpt-11", T0)) == 1)
    assert [one.pid for one in controllers(str(made.path), "gpt-1")] == [mine.pid]
    assert [one.pid for one in senders("gpt-1", T0)] == [sender.pid]
    link = made.path.with_name("link")
    link.symlink_to(made.path)
    assert [one.pid for one in controllers(str(link), "gpt-1")] == [mine.pid]


@pytest.mark.parametrize("wait", [until_paused, until_stopped])
def test_the_wait_lasts_until_the_controller_has_gone(made, others, wait) -> None:
    if wait is until_paused:
        made.put(record(sweeps=2, **PAUSED))
    else:
        ended_job(made, sweeps=2)
    process = others.controller()
    until(lambda: controllers(str(made.path), "gpt-1"))
    seen: list[bool] = []

    def see(job: Job) -> None:
        seen.append(process.poll() is None)
        if len(seen) == 3:
            process.kill()
            process.wait()

    wait(load(made.root, "gpt-1"), see, ensure=nobody)
    assert seen[:3] == [True] * 3
    assert process.poll() is not None
    assert wait(load(made.root, "gpt-1"), timeout_s=0, ensure=nobody).id == "gpt-1"


def test_a_rest_that_is_not_swept_gets_its_controller(made: MadeRoot) -> None:
    made.put(record(sweeps=0, **PAUSED))
    job = until_quiet(
        load(made.root, "gpt-1"), ensure=lambda root, job: made.put(record(sweeps=2, **PAUSED))
    )
    assert job.record.sweeps == 2

    def refuse(root: object, job: str) -> None:
        raise StoreUnavailable("the root is read-only")

    made.put(record(sweeps=1, **PAUSED))
    assert until_quiet(load(made.root, "gpt-1"), ensure=refuse).record.sweeps == 1


def test_a_controller_that_stays_is_not_waited_for_for_ever(made, others) -> None:
    ended_job(made, sweeps=2)
    process = others.controller()
    until(lambda: controllers(str(made.path), "gpt-1"))
    clock = SleepingClock()
    until_quiet(load(made.root, "gpt-1"), ensure=nobody, clock=clock)
    assert clock.now_ns >= QUIET_S * 1e9
    assert process.poll() is None


def test_rm_waits_for_the_sender_and_then_ends_it(made: MadeRoot, others: Others) -> None:
    ended_job(made, sweeps=2)
    process, sender = others.controller(), others.sender()
    until(lambda: controllers(str(made.path), "gpt-1") and senders("gpt-1", T0))
    until((made.path / "jobs/gpt-1/mine").is_dir)
    heard, clock = Heard(), SleepingClock()
    remove_view(made.root, ["gpt-1"], Sweepers(nobody, clock, heard))
    assert (process.wait(5), sender.wait(5)) == (-9, -9)
    assert not (made.path / "jobs/gpt-1").exists()
    assert heard.gone == ["gpt-1"]
    assert "waiting for the last messages of gpt-1 to be sent (at most 20 s)" in heard.said
    assert heard.said[-1] == "gpt-1: a message is still being sent; it is given up"


def test_rm_ends_what_a_dead_controller_left_behind(made: MadeRoot, others: Others) -> None:
    ended_job(made, sweeps=2)
    sender, other = others.sender(), others.sender("gpt-2")
    until(lambda: senders("gpt-1", T0) and senders("gpt-2", T0))
    heard, clock = Heard(), SleepingClock()
    remove_view(made.root, ["gpt-1"], Sweepers(nobody, clock, heard))
    assert sender.wait(5) == -9
    assert not (made.path / "jobs/gpt-1").exists()
    assert (clock.now_ns, heard.said) == (0, [])
    assert other.poll() is None


def test_a_sender_that_ends_in_time_is_left_to_end(made: MadeRoot, others: Others) -> None:
    ended_job(made, sweeps=2)
    process = others.controller()
    until(lambda: controllers(str(made.path), "gpt-1"))

    class Ends(Heard):
        def check(self) -> None:
            process.terminate()
            process.wait()

    heard = Ends()
    remove_view(made.root, ["gpt-1"], Sweepers(nobody, SleepingClock(), heard))
    assert process.returncode == -15
    assert (heard.said, heard.gone) == ([], ["gpt-1"])
