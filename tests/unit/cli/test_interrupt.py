"""Ctrl-C while a job is followed: the job goes on; a second one asks to save and stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from phalanx.app.jobs import load

JOB = "kind: train\nname: tiny\ncommand: [python, train.py]\nsource: null\ntotal_steps: 5\n"
PROGRAM = (
    "import sys\n"
    "from phalanx.cli.main import call\n"
    "sys.exit(call(sys.argv[1:], lambda root, job: None))"
)


@contextmanager
def following(path: str) -> Iterator[subprocess.Popen[str]]:
    """`phalanx run` as a process of its own, once it follows; nobody drives the job."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "run", path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        try:
            assert process.stdout.readline() == "tiny-1\n"
            assert process.stderr.readline().startswith("Pending: ")
            yield process
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def job_file(tmp_path):
    (tmp_path / "job.yaml").write_text(JOB)
    return str(tmp_path / "job.yaml")


def test_one_ctrl_c_leaves_the_job_running_and_says_how_to_go_on(made, job_file):
    with following(job_file) as process:
        process.send_signal(signal.SIGINT)
        line = process.stderr.readline()
        assert "tiny-1 goes on" in line
        assert "phalanx status tiny-1" in line
        assert "phalanx stop tiny-1" in line
        assert process.wait(30) == 130
        assert process.stderr.read() == ""
    assert load(made.root, "tiny-1").record.stop is None


def test_a_second_ctrl_c_is_stop_with_save(made, job_file):
    with following(job_file) as process:
        process.send_signal(signal.SIGINT)
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr.read() == "phalanx: asked tiny-1 to save and stop\n"
    stop = load(made.root, "tiny-1").record.stop
    assert stop is not None
    assert stop.save
