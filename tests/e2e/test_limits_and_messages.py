"""Runaway jobs end, receivers are told once, and a paused job goes on where it stopped."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from phalanx.names import Keys
from phalanx.state.read import read_record
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from tests.support.gang import cmdline, kill
from tests.support.receiver import Receiver
from tests.support.waiting import until

CRASHES = "import time; time.sleep(0.05); raise SystemExit('it always crashes')"
EATS = (
    "import os, time\n"
    "kept = []\n"
    "while os.environ['RANK'] == '1':\n"
    "    kept.append(bytearray(4 << 20))\n"
    "    time.sleep(0.01)\n"
    "time.sleep(999)\n"
)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as one:
        yield one


def test_a_script_that_always_crashes_is_ended_by_no_progress(counting):
    extra = "limits: {no_progress: 3}\nrestart: [{on: [NonZeroExit]}]\n"
    gang = counting(command=["env", "python", "-c", CRASHES], extra=extra).start()
    status = gang.wait()
    assert (status["phase"], status["reason"]) == ("Failed", "NoProgress")
    assert len(status["history"]) == 3
    assert "it always crashes" in status["message"]
    gang.assert_nothing_lives()


def test_and_by_max_runtime_when_it_may_try_for_ever(counting):
    extra = "limits: {max_runtime: 3s, no_progress: 1000}\nrestart: [{on: [NonZeroExit]}]\n"
    gang = counting(command=["env", "python", "-c", CRASHES], extra=extra).start()
    status = gang.wait()
    assert (status["phase"], status["reason"]) == ("Failed", "MaxRuntime")
    assert "ran longer than max_runtime (3 s)" in status["verdict"]["message"]
    gang.assert_nothing_lives()


def test_a_rank_that_takes_all_memory_is_ended_by_name_and_its_agent_lives_on(counting):
    extra = (
        "resources: {memory: 160MiB}\nlimits: {no_progress: 2}\nrestart: [{on: [OutOfMemory]}]\n"
    )
    command = ["env", "python", "-c", EATS]
    gang = counting(nodes=1, ranks=2, command=command, extra=extra).start()
    status = gang.wait()
    assert (status["phase"], status["reason"]) == ("Failed", "NoProgress")
    assert gang.causes() == [("OutOfMemory", 0, 1)] * 2
    assert "allows the slot 167,772,160 bytes" in status["verdict"]["message"]
    # The same task, so the same agent, saw both attempts.
    assert [task["incarnation"] for task in status["tasks"]] == [0]
    gang.assert_nothing_lives()


def test_instance_hours_end_a_job_after_a_last_save_over_controllers_that_die(counting):
    """2 tasks x 5 s; the controller is killed half-way, which counts nothing anew."""
    extra = "limits: {max_instance_hours: 0.0028}\n"
    gang = counting(nodes=1, steps=5000, step_s=0.02, every=100000, extra=extra).start()
    gang.reach(20)
    kill(gang.controller_pid())
    status = gang.wait()
    assert (status["phase"], status["reason"]) == ("Failed", "MaxInstanceHours")
    assert status["verdict"]["class"] == "StoppedByUs"
    assert status["checkpoint"]["step"] >= max(line.step for line in gang.lines(0))
    found = read_record(Store(FilesObjects.open(gang.root), "tests"), Keys(gang.job))
    assert found is not None
    assert found.record.instance_ns > 0.0028 * 3600e9
    gang.assert_nothing_lives()


def test_pause_saves_and_releases_and_resume_goes_on_from_there(new_gang):
    gang = new_gang(nodes=2, steps=5000, step_s=0.03, every=10000).start()
    gang.reach(10)
    paused = gang.call("pause", gang.job)
    assert (paused["phase"], paused["ended"]) == ("Paused", None)
    last = max(line.step for line in gang.lines(0))
    assert paused["checkpoint"]["step"] == last + 1
    assert [task["state"] for task in paused["tasks"]] == ["stopped"] * 2
    assert not gang.processes(), "no task, and no controller either"

    assert "resume" in gang.why()["next"]["action"]
    assert "Paused" in gang.run("ps").stdout
    waiting = gang.run("wait", gang.job, "--timeout", "0.3")
    assert waiting.returncode == 1
    assert "is Paused; waiting" in waiting.stderr
    assert "paused already" in gang.run("pause", gang.job).stderr
    assert not gang.processes(), "reading a paused job starts nobody"

    resumed = gang.call("resume", gang.job)
    assert resumed["attempt"] == 1
    assert resumed["restarts"] == {"counted": 0, "uncounted": 1}
    gang.reach(last + 5, attempt=1)
    assert {line.resumed for line in gang.lines(1) if line.attempt == 1} == {last + 1}
    assert "is not paused" in gang.refused(2, "resume", gang.job)

    gang.call("pause", gang.job)
    assert not gang.processes()
    assert gang.call("stop", gang.job)["phase"] == "Stopped"
    assert not gang.processes()
    assert "has ended: Stopped" in gang.refused(2, "pause", gang.job)
    assert "has ended: Stopped" in gang.refused(2, "resume", gang.job)
    gang.assert_nothing_lives()


def test_each_event_is_told_once_over_controllers_that_stop_die_and_come_back(
    counting, receiver, tmp_path
):
    told = tmp_path / "told"
    script = tmp_path / "tell.sh"
    script.write_text(f'#!/bin/sh\ncat >> {told}; echo " $PHALANX_EVENT" >> {told}\n')
    script.chmod(0o755)
    extra = (
        f"notify:\n  - webhook: {receiver.url}\n    on: [ended, restarted]\n"
        f"  - command: [{script}]\n"
        "  - webhook: http://127.0.0.1:1/a-secret-token\n"
    )
    gang = counting(steps=150, step_s=0.03, extra=extra).start()
    gang.reach(5)
    stopped = gang.controller_pid()
    os.kill(stopped, signal.SIGSTOP)
    until(lambda: gang.controller_pid() != stopped)  # an agent has started another
    kill(gang.rank_pid(0))
    gang.reach(20, attempt=1)
    kill(gang.controller_pid())
    os.kill(stopped, signal.SIGCONT)
    kill(gang.rank_pid(1))
    gang.reach(30, attempt=2)
    status = gang.wait()
    assert status["phase"] == "Succeeded"
    until(lambda: len(gang.status()["messages"]) == 5 and not gang.processes())

    assert receiver.events() == {"restarted-1-0": 1, "restarted-2-0": 1, "ended-0": 1}
    assert {(m["job"], bool(m["phase"] and m["reason"])) for m in receiver.got} == {
        (gang.job, True)
    }
    assert told.read_text().count(" ended\n") == 1
    failed = [m for m in gang.status()["messages"] if m["state"] == "failed"]
    assert [m["to"] for m in failed] == ["http://127.0.0.1:1/..."]
    for words in (("status",), ("why",), ("status", "--json"), ("why", "--json")):
        shown = gang.run(words[0], gang.job, *words[1:]).stdout
        assert "Connection refused" in shown
        assert "secret" not in shown
    assert "secret" not in gang.object("controller.log").read_text()
    assert "sh" not in cmdline(stopped)


def test_messages_of_a_job_whose_controller_died_at_the_end_are_told_by_whoever_looks(
    counting, receiver
):
    receiver.hangs = True
    extra = f"notify: [{{webhook: {receiver.url}}}]\n"
    gang = counting(nodes=1, command=["true"], extra=extra).start()
    until(lambda: receiver.got)
    kill(gang.controller_pid())
    receiver.hangs = False
    assert gang.status()["phase"] == "Succeeded"
    until(lambda: [m["state"] for m in gang.status()["messages"]] == ["sent"])
    assert len(set(receiver.keys)) == 1
    gang.assert_nothing_lives()
