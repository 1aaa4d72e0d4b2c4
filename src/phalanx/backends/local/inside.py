"""Run something inside a task of this machine: its agent's own environment, our terminal.

The environment is read from the agent's process, which only its user may do; no value of it is
written anywhere. What is started here carries the task's marks, so it ends with the task.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from types import FrameType
from typing import NamedTuple

from phalanx.backends.local import marks, processes
from phalanx.backends.local.tasks import Claim, TaskFiles
from phalanx.errors import BackendError

ENTER = "phalanx.agent.enter"
KILLED_WITH_CODE = 128
"""As shells: 128 + n for an end by signal n."""


class Inside(NamedTuple):
    """A command line of this machine that runs in a task, and its environment."""

    argv: tuple[str, ...]
    env: Mapping[str, str]


def inside(files: TaskFiles, claim: Claim, words: str) -> Inside:
    """`python -m phalanx.agent.enter WORDS` as this task would run it.

    Raises `BackendError` when its agent has ended, or is another user's.
    """
    asked = files.request() or {}
    env = environment_of(claim)
    if env.get(marks.TASK) != files.token:
        raise BackendError(f"process {claim.pid} is not the agent of this task")
    python = str(asked["body"]["argv"][0])
    return Inside((python, "-m", ENTER, words), env)


def environment_of(claim: Claim) -> dict[str, str]:
    """The environment that the agent was started with. Raises `BackendError`."""
    try:
        words = processes.words(claim.pid, "environ")
    except PermissionError:
        raise BackendError(
            f"the agent (process {claim.pid}) belongs to another user",
            hint="only who started the job may run something inside it",
        ) from None
    except OSError:
        words = []
    # Looked at afterwards: until then the number may have passed to another process.
    if not any(words) or processes.start_of(claim.pid) != claim.start:
        raise BackendError("the task has just ended")
    pairs = (os.fsdecode(item).partition("=") for item in words if item)
    return {name: value for name, _, value in pairs}


def joined(what: Inside) -> int:
    """Run it with our own input and output; its exit code.

    Ctrl-C reaches it from the terminal, as it reaches us: its answer is waited for.
    """
    process = subprocess.Popen(what.argv, env=dict(what.env), cwd="/")
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def pass_on(number: int, frame: FrameType | None) -> None:
        process.send_signal(number)

    try:
        signal.signal(signal.SIGINT, lambda *_: None)
        signal.signal(signal.SIGTERM, pass_on)
        return exit_code(process.wait())
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def told(what: Inside, limit_s: float) -> bytes:
    """Run it without input; what it printed. Raises `BackendError` when it fails or takes long."""
    try:
        done = subprocess.run(
            what.argv,
            env=dict(what.env),
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BackendError(f"no answer from inside the task within {limit_s:g} s") from None
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing is said why"]
        raise BackendError(lines[-1].removeprefix("phalanx: "))
    return done.stdout


def exit_code(status: int) -> int:
    """A shell's exit code for what `Popen.wait` says."""
    return status if status >= 0 else KILLED_WITH_CODE - status


def has_terminal() -> bool:
    """Whether somebody types and reads here."""
    return sys.stdin.isatty() and sys.stdout.isatty()
