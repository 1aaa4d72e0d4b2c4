"""Zero-code mode: scripts without a word of phalanx, killed, resumed by their own checkpoints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.house.tree import ROOT
from tests.support.gang import Gang, all_pids, cmdline, environment, kill
from tests.support.waiting import until

DIGITS = ROOT / "examples" / "digits" / "train.py"
EPOCHS = 6

PLAIN = """
import os, sys, time, zipfile
steps = int(sys.argv[1])
first = 0
if os.path.exists("checkpoint.pt"):
    first = int(zipfile.ZipFile("checkpoint.pt").read("step"))
print("begins at", first, flush=True)
for step in range(first, steps):
    time.sleep(0.04)
    if step % 15 == 14 and os.environ["RANK"] == "0":
        with zipfile.ZipFile("checkpoint.pt", "w") as archive:
            archive.writestr("step", str(step + 1))
    if step == int(sys.argv[2]):
        time.sleep(1000)
"""
"""Saves in place, right beside itself."""


def epochs(log: str) -> dict[int, str]:
    """What each epoch came to; the same every time it was run."""
    found: dict[int, str] = {}
    for number, words in re.findall(r"epoch (\d+) (loss \S+ accuracy \S+)", log):
        assert found.setdefault(int(number), words) == words
    return found


def test_digits_under_torchrun_and_here(new_gang, tmp_path):
    """The same script, twice killed here: every loss and accuracy is that of `torchrun`."""
    plain = tmp_path / "plain"
    plain.mkdir()
    shutil.copy(DIGITS, plain / "train.py")
    assert "phalanx" not in DIGITS.read_text()
    words = ["--epochs", str(EPOCHS)]
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2"]
    calm = {**os.environ, "OMP_NUM_THREADS": "1"}
    undisturbed = subprocess.run(
        [*launch, "train.py", *words], cwd=plain, env=calm, capture_output=True, text=True
    )
    assert undisturbed.returncode == 0, undisturbed.stderr
    gang = new_gang(
        nodes=1,
        ranks=2,
        script=DIGITS,
        command=["python", "train.py", *words],
        extra="launcher: torchrun\n",
        checkpoint="{mode: watch, dir: ./out}",
        steps=EPOCHS,
    ).start()
    for kills in range(2):
        until(lambda at=kills: step_of(gang) > at, 120)
        kill(until(lambda: rank_of(gang), 60))
        until(lambda at=kills: gang.status()["attempt"] > at, 60)
    status = gang.wait(180)
    assert status["phase"] == "Succeeded", status
    assert status["step"] == EPOCHS
    assert [past["resumed_from_step"] > 0 for past in status["history"]] == [True, True]
    here, there = epochs(gang.run("logs", gang.job).stdout), epochs(undisturbed.stdout)
    assert sorted(there) == list(range(1, EPOCHS + 1))
    assert here.items() <= there.items()
    # The script saves before it prints: only the line of an epoch that was gone on from may lack.
    assert there.keys() - here.keys() <= {past["resumed_from_step"] for past in status["history"]}
    final = re.compile(r"final accuracy (\S+)").search
    assert final(gang.run("logs", gang.job).stdout)[1] == final(undisturbed.stdout)[1]
    assert gang.call("checkpoints", "verify", str(gang.root))["verified"]
    gang.assert_nothing_lives()


def step_of(gang: Gang) -> int:
    """Step of the newest commit."""
    head = gang.head()
    return int(head.checkpoint.split("-")[0]) if head and head.checkpoint else 0


def rank_of(gang: Gang) -> int:
    """A rank that `torchrun` has started; 0 when there is none."""
    for pid in all_pids():
        words = cmdline(pid) if str(gang.root) in environment(pid) else ""
        if "train.py" in words and "torch.distributed" not in words:
            return pid
    return 0


def test_a_file_beside_the_script(new_gang, tmp_path):
    """`dir: .`, the launcher `ranks`, two tasks: both go on from the one file, twice."""
    script = tmp_path / "plain.py"
    script.write_text(PLAIN)
    gang = new_gang(
        nodes=2,
        script=script,
        command=["env", "python", "train.py", "120", "-1"],
        checkpoint="{mode: watch, dir: .}",
        steps=120,
    ).start()
    until(lambda: step_of(gang) >= 2, 60)
    kill(until(lambda: first_rank(gang), 30))
    status = gang.wait(120)
    assert status["phase"] == "Succeeded", status
    assert status["attempt"] == 1
    log = gang.run("logs", gang.job).stdout
    begins = sorted(int(words) for words in re.findall(r"begins at (\d+)", log))
    assert begins[:2] == [0, 0]
    assert begins[2] == begins[3] > 0
    assert "train.py" in os.listdir(source_of(gang))  # what was shipped is no checkpoint
    gang.assert_nothing_lives()


def first_rank(gang: Gang) -> int:
    """A rank that an agent has started."""
    pids = [rank["pid"] for task in gang.status()["tasks"] for rank in task["ranks"]]
    return pids[0] if pids else 0


def source_of(gang: Gang) -> Path:
    """Where the script runs."""
    return next(path for path in gang.object("source").iterdir() if not path.name.startswith("."))


def test_no_step_is_no_hang_and_a_save_is_declined(new_gang, tmp_path):
    """Nobody can ask the script for a save: `stop --save` says so, and ends it."""
    script = tmp_path / "plain.py"
    script.write_text(PLAIN)
    gang = new_gang(
        nodes=1,
        script=script,
        command=["env", "python", "train.py", "100", "40"],
        checkpoint="{mode: watch, dir: .}",
        extra="stop: {grace: 5s}\n",
        steps=100,
    ).start()
    until(lambda: step_of(gang) >= 1, 60)
    said = gang.refused(4, "exec", gang.job, "--stacks")
    assert f"{gang.job} shows no stacks: rank 0: only ranks of a plain `python ...`" in said
    stopped = gang.run("stop", gang.job, "--save")
    assert gang.wait(60)["phase"] == "Stopped"
    declined = "the last save was declined: "
    assert f"phalanx: {declined}" in stopped.stderr
    assert "is the newest that is saved" in stopped.stderr
    done = [item["says"] for item in gang.why()["done"]]
    assert any(text.startswith(f"the job was asked to stop; {declined}") for text in done), done
    said = [path.read_text() for path in gang.object("notices").glob("*.outcome")]
    assert any("the script saves when it wants to" in text for text in said), said
    gang.assert_nothing_lives()


def test_standing_still_counts_as_a_hang_where_the_job_says_how_long(new_gang, tmp_path):
    script = tmp_path / "plain.py"
    script.write_text(PLAIN)
    gang = new_gang(
        nodes=1,
        script=script,
        command=["env", "python", "train.py", "100", "45"],
        checkpoint="{mode: watch, dir: .}",
        extra="hang: {after: 2s}\nrestart: [{on: [Hang], do: fail}]\n",
        steps=100,
    ).start()
    status = gang.wait(60)
    assert status["phase"] == "Failed", status
    assert gang.causes()[0][0] == "Hang"
    (hang,) = gang.object("attempts/0").glob("hang")
    assert "nothing new in checkpoint.dir" in hang.read_text()
    gang.assert_nothing_lives()
