"""Roots that are full, read-only, gone, oddly named, shared, or no folder at all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.support.gang import Gang, kill
from tests.support.mounts import remount, tiny
from tests.support.waiting import until


def test_a_full_disk_while_saving_keeps_the_earlier_checkpoints(counting, tmp_path):
    with tiny(tmp_path / "small", "size=8m,mode=0700") as small:
        ballast = small / "ballast"
        ballast.write_bytes(bytes(3_000_000))
        gang = counting(steps=100_000, step_s=0.02, root=small / "root").start()
        until(lambda: "could not be saved" in gang.run("logs", gang.job).stdout)
        assert "the disk is full (free some space" in gang.run("logs", gang.job).stdout
        kept = gang.head().checkpoint
        listed = gang.call("checkpoints", gang.job)
        assert kept == listed["resume_from"]
        done = gang.run("checkpoints", "verify", str(gang.object(f"checkpoints/{kept}")))
        assert done.returncode == 0, done.stderr
        ballast.unlink()
        until(lambda: gang.head().checkpoint > kept)
        assert gang.call("stop", gang.job)["phase"] == "Stopped"
        gang.assert_nothing_lives()


def test_a_read_only_root(counting, tmp_path):
    with tiny(tmp_path / "small", "size=8m,mode=0700") as small:
        remount(small, "ro")
        gang = counting(root=small / "root")
        line = gang.refused(4, "run", str(gang.file))
        assert "read-only" in line
        assert str(small) in line


def test_a_root_that_is_a_file(counting, tmp_path):
    (tmp_path / "plain").touch()
    gang = counting(root=tmp_path / "plain")
    line = gang.refused(2, "run", str(gang.file))
    assert "a file stands where" in line
    assert gang.refused(2, "ps") == line


def test_a_root_with_blanks_and_letters_of_other_scripts(counting, tmp_path):
    gang = counting(steps=60, step_s=0.03, root=tmp_path / "wet paint é 漆 'n\"$x").start()
    gang.reach(10)
    kill(gang.rank_pid(0))
    assert gang.wait()["phase"] == "Succeeded"
    assert gang.causes() == [("Killed", 0, 0)]
    gang.assert_nothing_lives()


def test_a_deleted_root_ends_the_ranks_and_the_follower_says_so(counting):
    gang = counting(steps=100_000)
    terminal = gang.follow()
    gang.reach(5)
    pids = gang.processes()
    assert len(pids) > 4
    until(lambda: shutil.rmtree(gang.root, ignore_errors=True) or not gang.root.exists())
    code, _, err = terminal.end()
    assert code == 4
    assert str(gang.root) in err.splitlines()[-1]
    assert "Traceback" not in err
    gang.assert_nothing_lives()
    assert not gang.root.exists(), "what was deleted does not come back"


def test_a_deleted_job_ends_and_does_not_come_back_as_folders(counting):
    gang = counting(steps=100_000).start()
    gang.reach(5)
    gone = gang.object("")
    until(lambda: shutil.rmtree(gone, ignore_errors=True) or not gone.exists())
    gang.assert_nothing_lives()
    assert os.listdir(gang.root / "jobs") == []


def test_two_jobs_of_one_name_at_once(counting):
    gang = counting(command=["true"])
    terminals = [gang.follow() for _ in range(2)]
    first = gang.job
    other = Gang.follow(gang)
    ids = {first, gang.job, "gang-1"}
    assert ids == {"gang-1", "gang-2", "gang-3"}
    assert [terminal.end()[0] for terminal in (*terminals, other)] == [0, 0, 0]
    jobs = gang.call("ps")["jobs"]
    assert [(job["job"], job["phase"]) for job in jobs] == [
        (f"gang-{n}", "Succeeded") for n in (3, 2, 1)
    ]


def test_a_secret_is_nowhere_under_the_root(counting, monkeypatch):
    secret = "hunter2-" + "k" * 24
    monkeypatch.setenv("TOKEN_HERE", secret)
    words = "import os, sys; t = os.environ['TOKEN']; print(len(t)); sys.exit('no good: ' + t)"
    extra = "secrets: {TOKEN: {env: TOKEN_HERE}}\nlimits: {no_progress: 1}\n"
    gang = counting(nodes=1, command=["env", "python", "-c", words], extra=extra).start()
    assert gang.wait()["phase"] == "Failed"
    assert gang.run("logs", gang.job).stdout.count(str(len(secret))) == 1
    for folder, _, names in os.walk(gang.root):
        for name in names:
            path = Path(folder, name)
            if "logs" not in path.relative_to(gang.root).parts:
                assert secret.encode() not in path.read_bytes(), path
    assert secret not in gang.run("status", gang.job).stdout + gang.run("why", gang.job).stdout


def test_everything_below_a_root_is_private(counting):
    gang = counting(nodes=1, steps=12).start()
    assert gang.wait()["phase"] == "Succeeded"
    own = gang.object("files")
    for folder, _, names in os.walk(gang.root):
        for path in (Path(folder), *(Path(folder, name) for name in names)):
            assert path.stat().st_mode & 0o077 == 0 or own in path.parents, path
