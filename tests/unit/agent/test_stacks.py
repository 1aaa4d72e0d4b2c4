"""Stacks of a rank that stands still: real dumps of real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from phalanx.agent import stacks
from tests.support.waiting import until

RANK = """
import sys
from phalanx.agent.rank_main import run_script
run_script({{"argv": ["python", "train.py"], "env": {env!r}, "cwd": {cwd!r}, "fds": (1, 2)}})
"""
SCRIPT = """
import threading, time
def deep(n):
    if n:
        return deep(n - 1)
    print("there", flush=True)
    {wait}
threading.Thread(target=lambda: time.sleep(1000), daemon=True).start()
deep({depth})
"""


def start(folder: Path, wait: str, depth: int = 3) -> subprocess.Popen[str]:
    """A process that runs `train.py` as every rank is run, and stands still in it."""
    (folder / "train.py").write_text(SCRIPT.format(wait=wait, depth=depth))
    env = {**os.environ, "PHALANX_RANK_DIR": str(folder)}
    code = RANK.format(env=env, cwd=str(folder))
    made = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert made.stdout is not None
    assert made.stdout.readline() == "there\n"
    return made


@pytest.fixture
def spinning(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    made = start(tmp_path, "while True: pass")
    yield made
    made.kill()
    made.communicate()


def dump(pid: int, folder: Path, wait_s: float = 30.0) -> str:
    stacks.forget(str(folder))
    stacks.ask(pid)
    return stacks.read_stacks(str(folder), wait_s)


def test_the_line_of_the_script_is_found(tmp_path: Path, spinning: subprocess.Popen[str]) -> None:
    until(lambda: stacks.where(dump(spinning.pid, tmp_path)) == "train.py:7 in deep")
    text = dump(spinning.pid, tmp_path)
    assert stacks.stuck_in(spinning.pid, text) == "code"
    assert "in deep" in stacks.main_thread(text)
    assert "lambda" not in stacks.main_thread(text)


def test_asking_twice_gives_the_newest_alone(
    tmp_path: Path, spinning: subprocess.Popen[str]
) -> None:
    first = dump(spinning.pid, tmp_path)
    again = dump(spinning.pid, tmp_path)
    assert "\0" not in again
    assert again.count("rank_main.py") == first.count("rank_main.py")


def test_a_stopped_process_is_not_asked(tmp_path: Path, spinning: subprocess.Popen[str]) -> None:
    assert not stacks.is_stopped(spinning.pid)
    spinning.send_signal(signal.SIGSTOP)
    until(lambda: stacks.is_stopped(spinning.pid))
    assert dump(spinning.pid, tmp_path, 0.0) == ""
    assert stacks.stuck_in(spinning.pid, "") == "stopped"
    spinning.send_signal(signal.SIGCONT)
    until(lambda: not stacks.is_stopped(spinning.pid))
    assert (tmp_path / "stacks").read_text() == ""


def test_a_deep_recursion_that_hides_the_outermost_frame(tmp_path: Path) -> None:
    made = start(tmp_path, "while True: pass", depth=300)
    try:
        until(lambda: stacks.where(dump(made.pid, tmp_path, 0.2)) == "train.py:7 in deep")
    finally:
        made.kill()
        made.communicate()


def test_a_process_that_does_not_listen_is_left_alone(tmp_path: Path) -> None:
    """The signal would end it: a command that is no rank of ours, a launcher."""
    code = "print('there', flush=True); import time; time.sleep(1000)"
    made = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert made.stdout is not None
        made.stdout.readline()
        assert dump(made.pid, tmp_path, 0.0) == ""
        made.terminate()
        assert made.wait() == -signal.SIGTERM
    finally:
        made.kill()
        made.communicate()


def test_a_process_that_is_gone(tmp_path: Path) -> None:
    made = subprocess.Popen([sys.executable, "-c", ""])
    made.wait()
    assert dump(made.pid, tmp_path, 0.0) == ""
    assert stacks.stuck_in(made.pid, "") == ""


COLLECTIVE = """Thread 0x00007f0a (most recent call first):
  File "/usr/lib/python3.10/threading.py", line 324 in wait
  File "/job/train.py", line 3 in background

Current thread 0x00007f0b (most recent call first):
  File "/venv/lib/python3.10/site-packages/torch/distributed/c10d_logger.py", line 9 in wrapper
  File "/job/train.py", line 41 in <module>
  File "/venv/lib/python3.10/site-packages/phalanx/agent/rank_main.py", line 100 in _run
"""


@pytest.mark.parametrize(
    ("text", "stuck", "place"),
    [
        (COLLECTIVE, "collective", "train.py:41 in <module>"),
        (
            COLLECTIVE.replace("distributed/c10d_logger", "autograd/graph"),
            "collective",
            "train.py:41 in <module>",
        ),
        (
            COLLECTIVE.replace("torch/distributed/c10d_logger", "numpy/core"),
            "code",
            "train.py:41 in <module>",
        ),
        ('  File "/venv/lib/python3.10/site-packages/x.py", line 1 in y', "code", ""),
        ("", "", ""),
    ],
)
def test_what_dumps_say(text: str, stuck: str, place: str) -> None:
    assert stacks.stuck_in(os.getpid(), text) == stuck
    assert stacks.where(text) == place


def test_the_rest_of_an_older_dump_is_not_taken_for_a_whole_one(tmp_path: Path) -> None:
    rest = '  File "/venv/phalanx/agent/rank_main.py", line 41 in run_script\n'
    begun = 'Thread 0x00007f0a (most recent call first):\n  File "/job/train.py", line 3 in save\n'
    assert not stacks.is_whole(rest + begun)
    assert stacks.is_whole(rest + COLLECTIVE)
    (tmp_path / "stacks").write_text(rest + COLLECTIVE)
    assert stacks.read_stacks(str(tmp_path), 0.0) == rest + COLLECTIVE
    assert stacks.read_stacks(str(tmp_path), 0.0, len(rest)) == COLLECTIVE
    assert stacks.read_stacks(str(tmp_path), 0.0, 10**6) == rest + COLLECTIVE
