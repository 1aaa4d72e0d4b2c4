"""Commands that cannot run, end oddly or will not end: a clear answer, and nothing left."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from tests.support.gang import Gang, cmdline, environment, kill
from tests.support.waiting import until

ONCE = "limits: {no_progress: 1}\n"
"""Fail at the first failure: what is looked at here fails every time."""


def failure(gang: Gang, phase: str = "Failed") -> dict:
    """The verdict of a job that ended badly; nothing of it lives."""
    status = gang.wait()
    assert status["phase"] == phase, status
    gang.assert_nothing_lives()
    return status["verdict"]


def test_an_unknown_launcher_is_refused_with_file_line_and_hint(counting):
    gang = counting(extra="launcher: rank\n")
    line = gang.refused(2, "run", str(gang.file))
    assert f"{gang.file}:8:11: launcher cannot be 'rank' (did you mean ranks?)" in line
    assert not gang.root.exists()


def test_no_command_is_refused(counting):
    gang = counting()
    gang.file.write_text("kind: train\nname: gang\n")
    line = gang.refused(2, "run", str(gang.file))
    assert "command" in line
    assert str(gang.file) in line


def test_a_missing_job_file(counting, tmp_path):
    line = counting().refused(2, "run", str(tmp_path / "no.yaml"))
    assert "no.yaml" in line


@pytest.mark.parametrize("program", ["nosuchcommand", "python3.99"])
def test_a_program_that_is_not_on_path_is_refused(counting, program):
    gang = counting(command=[program, "train.py"])
    line = gang.refused(2, "run", str(gang.file))
    assert f"{gang.file}:3:11: command: " in line
    assert program in line
    assert not (gang.root / "jobs").exists()


def test_a_program_that_only_a_shell_misses(counting):
    gang = counting(command=["env", "nosuchcommand"]).start()
    verdict = failure(gang)
    assert verdict["class"] == "BadCommand"
    assert gang.status()["attempt"] == 0, "another try would end the same way"
    assert "nosuchcommand" in verdict["message"]
    assert "No such file or directory" in verdict["evidence"]
    assert "nosuchcommand" in gang.run("why", gang.job).stdout


def test_a_script_that_is_not_there(counting):
    gang = counting(command=["env", "python", "absent.py"], extra=ONCE).start()
    assert "absent.py" in failure(gang)["evidence"]


def test_a_rank_that_is_done_while_the_other_fails(counting):
    words = "import os, sys, time; r = int(os.environ['RANK']); time.sleep(r / 2); sys.exit(3 * r)"
    gang = counting(command=["env", "python", "-c", words], extra=ONCE).start()
    verdict = failure(gang)
    assert (verdict["class"], verdict["slot"], verdict["rank"]) == ("NonZeroExit", 1, 1)
    assert "3" in verdict["message"]


def test_a_rank_that_is_done_while_the_others_go_on(counting, tmp_path):
    gate = tmp_path / "gate"
    words = f"[ $RANK = 0 ] || until [ -e {gate} ]; do sleep 0.05; done"
    gang = counting(command=["sh", "-c", words]).start()
    until(lambda: gang.status()["reason"] == "Finishing")
    assert "slot 1" in gang.status()["message"]
    gate.touch()
    assert gang.wait()["phase"] == "Succeeded"
    gang.assert_nothing_lives()


def test_stop_ends_what_ignores_sigterm_and_what_has_left_the_session(counting, tmp_path):
    words = (
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"out = open({str(tmp_path / 'left')!r} + os.environ['RANK'], 'w')\n"
        "daemon = subprocess.Popen(['sleep', '9999'], start_new_session=True)\n"
        "bare = subprocess.Popen(['sleep', '9998'], start_new_session=True, env={})\n"
        "print(daemon.pid, bare.pid, file=out, flush=True)\n"
        "while True: time.sleep(1)\n"
    )
    command = ["env", "python", "-c", words]
    gang = counting(command=command, extra="stop: {grace: 1s}\n").start()
    left = [tmp_path / "left0", tmp_path / "left1"]
    until(lambda: all(path.exists() and len(path.read_text().split()) == 2 for path in left))
    assert gang.call("stop", gang.job)["phase"] == "Stopped"
    for path in left:
        for pid in map(int, path.read_text().split()):
            assert "sleep" not in cmdline(pid), environment(pid)
    gang.assert_nothing_lives()


def test_stop_while_nothing_has_started_yet(counting):
    gang = counting(step_s=60).start()
    assert gang.call("stop", gang.job)["phase"] == "Stopped"
    gang.assert_nothing_lives()
    assert gang.lines(0) == []


def test_stop_of_a_job_that_has_ended_changes_nothing(counting):
    gang = counting(command=["true"]).start()
    assert gang.wait()["phase"] == "Succeeded"
    done = gang.run("stop", gang.job)
    assert done.returncode == 0
    assert "has ended before: Succeeded" in done.stderr
    assert gang.status()["phase"] == "Succeeded"


def test_a_flood_of_output_takes_bounded_space_and_its_end_is_kept(counting):
    words = "head -c 100000000 /dev/zero | tr '\\0' 'x' | fold -w 99; echo; echo the end"
    gang = counting(nodes=1, command=["sh", "-c", words]).start()
    assert gang.wait()["phase"] == "Succeeded"
    sizes = [path.stat().st_size for path in gang.object("logs").rglob("*") if path.is_file()]
    assert sum(sizes) < 80_000_000
    tail = gang.run("logs", gang.job, "--tail", "2")
    assert tail.returncode == 0, tail.stderr
    assert "the end" in tail.stdout.splitlines()[-1]


def test_editing_the_source_does_not_change_a_running_job(counting):
    gang = counting(steps=80, step_s=0.05).start()
    (gang.source / "train.py").write_text("raise SystemExit('this is another program')\n")
    gang.reach(10)
    kill(gang.rank_pid(0))
    assert gang.wait()["phase"] == "Succeeded"
    assert [sorted(gang.losses(rank)) for rank in (0, 1)] == [list(range(80))] * 2
    assert gang.causes() == [("Killed", 0, 0)]


def test_python_and_signal_names_of_a_script_that_kills_itself(counting):
    words = f"import os; os.kill(os.getpid(), {int(signal.SIGSEGV)})"
    command = [sys.executable, "-X", "faulthandler", "-c", words]
    gang = counting(nodes=1, command=command, extra=ONCE).start()
    verdict = failure(gang)
    assert verdict["class"] == "Killed"
    assert "SIGSEGV" in verdict["message"]
    assert os.path.isdir(gang.object("logs"))
