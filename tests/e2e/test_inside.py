"""Into a running job and out again: a command, a shell, stacks; then remove what is left."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
from pathlib import Path

from tests.support.gang import PHALANX, Gang
from tests.support.waiting import until


def inside(gang: Gang, *words: str, slot: int = 0) -> subprocess.CompletedProcess[str]:
    """`phalanx exec JOB --slot N -- WORDS`."""
    where = ("--slot", str(slot), "--root", str(gang.root))
    return subprocess.run(
        [*PHALANX, "exec", gang.job, *where, "--", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


class Shell:
    """`phalanx exec` in a terminal."""

    def __init__(self, gang: Gang, slot: int) -> None:
        words = [*PHALANX, "exec", gang.job, "--slot", str(slot), "--root", str(gang.root)]
        self.seen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(words[0], words)
        os.set_blocking(self.fd, False)

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def shows(self, text: str) -> bool:
        with contextlib.suppress(OSError):
            self.seen += os.read(self.fd, 65536).decode(errors="replace")
        return text in self.seen

    def code(self) -> int:
        """The exit code, once there is one; reading goes on, so that nobody waits for it."""
        ended: list[int] = []

        def is_over() -> bool:
            self.shows("")
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            ended.extend([os.waitstatus_to_exitcode(status)] if pid else [])
            return bool(ended)

        until(is_over)
        os.close(self.fd)
        return ended[0]


def test_a_command_a_shell_and_stacks_leave_a_running_job_alone(new_gang, monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("TOKEN_HERE", "hunter2-" + "k" * 24)
    extra = "secrets: {TOKEN: {env: TOKEN_HERE}}\nhang: {after: 2s}\nenv: {COLOUR: blue}\n"
    gang = new_gang(steps=100_000, step_s=0.02, extra=extra).start()
    gang.reach(2)
    words = "pwd; ls; echo $RANK $WORLD_SIZE $LOCAL_RANK $PHALANX_SLOT $COLOUR ${#TOKEN}; exit 7"
    done = inside(gang, "sh", "-c", words, slot=1)
    assert (done.returncode, done.stderr) == (7, "")
    where, *files, facts = done.stdout.splitlines()
    assert Path(where).parent == gang.object("source")
    assert files == ["job.yaml", "train.py"]
    assert facts == "1 2 0 1 blue 32"
    # A copy of the training script started by hand is no rank: it must not save as one.
    alone = (
        "from phalanx.train.environment import surroundings as s; import os; print(s(os.environ))"
    )
    assert inside(gang, "python", "-c", alone).stdout == "None\n"
    assert inside(gang, "nosuchcommand").returncode == 127

    seen = gang.call("exec", gang.job, "--stacks")
    assert [(one["rank"], one["slot"]) for one in seen["ranks"]] == [(0, 0), (1, 1)]
    assert seen["missing"] == []
    for one in seen["ranks"]:
        assert one["because"] == ""
        assert one["threads"][0]["main"]
        outermost = one["threads"][0]["frames"][-1]
        assert (outermost["function"], os.path.basename(outermost["file"])) == (
            "<module>",
            "train.py",
        )
    assert "train.py:" in gang.run("exec", gang.job, "--stacks", "--rank", "1").stdout
    assert not gang.object("evidence").exists(), "nothing is taken for a hang"

    shell = Shell(gang, 1)
    shell.type("echo $((RANK + 40)) $(tty)\n")
    until(lambda: shell.shows("41 /dev/pts/"))
    shell.type("sh -c 'echo begun; exec sleep 1000'\n")
    until(lambda: shell.shows("\nbegun"))
    shell.type("\x03")
    shell.type("exit 5\n")
    assert shell.code() == 5

    status = gang.status()
    assert (status["phase"], status["attempt"], status["history"]) == ("Running", 0, [])
    step = status["step"]
    until(lambda: gang.status()["step"] > step)
    line = gang.refused(4, "rm", gang.job)
    assert f"`phalanx stop {gang.job}` first" in line

    shell = Shell(gang, 0)
    shell.type("echo $((RANK + 40000 + 2))\n")
    until(lambda: shell.shows("40002"))
    assert gang.call("stop", gang.job)["phase"] == "Stopped"
    assert shell.code() == 128 + signal.SIGKILL
    assert "the task of slot 0 has ended" in shell.seen
    line = gang.refused(4, "exec", gang.job, "--slot", "0", "true")
    assert "has ended (Stopped): nothing runs in slot 0" in line

    answer = gang.call("rm", gang.job)
    assert answer["bytes"] > 0
    assert not gang.object("").exists()
    assert gang.call("ps")["jobs"] == []
    assert "was removed" in gang.refused(2, "status", gang.job)
    gang.assert_nothing_lives()


def test_a_removal_that_is_killed_leaves_a_whole_job_or_none(counting):
    gang = counting(nodes=1, command=["true"]).start()
    assert gang.wait()["phase"] == "Succeeded"
    for number in range(3000):
        (gang.object("files") / f"{number}").write_bytes(b"x")
    removing = subprocess.Popen([*PHALANX, "rm", gang.job, "--root", str(gang.root)])
    until(lambda: not gang.object("").exists())
    removing.kill()
    removing.wait()
    assert gang.call("ps") == {
        "schema": "phalanx.ps/1",
        "jobs": [],
        "unreadable": [],
        "left_out": 0,
    }
    assert gang.call("run", str(gang.file), "--detach") == {
        "schema": "phalanx.run/1",
        "job": "gang-2",
    }
    assert json.loads((gang.root / "removed" / gang.job).read_text().splitlines()[1])["at"]
