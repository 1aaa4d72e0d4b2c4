"""Processes on this machine that belong to a job but to none of its tasks.

Controllers are known by their command line, the programs that they hand messages to by the
message's id in their environment: also when the controller that started them is gone.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from itertools import pairwise

from phalanx.backends.local import processes
from phalanx.backends.local.processes import Process

_MODULE = b"phalanx.controller"
_MESSAGE_ID = b"PHALANX_ID"
END_S = 2.0
"""What was killed is waited for so long: it may sleep in the kernel."""


def controllers(root: str, job: str) -> tuple[Process, ...]:
    """Living controllers of one job, whoever of them drives it; never this process."""
    there = os.path.realpath(root)
    return _living(lambda pid: _drives(pid, there, job))


def senders(job: str, created_ns: int) -> tuple[Process, ...]:
    """Living programs that were given a message of this very job, and what they started."""
    start = _MESSAGE_ID + b"=" + f"{job}.{created_ns}.".encode()
    return _living(lambda pid: any(item.startswith(start) for item in _words(pid, "environ")))


def end(find: Callable[[], tuple[Process, ...]]) -> bool:
    """SIGKILL whatever `find` finds until it finds nothing; False when something would not go."""
    deadline = time.monotonic() + END_S
    while found := find():
        if time.monotonic() > deadline:
            return False
        for process in found:
            processes.send(process.identity, signal.SIGKILL)
        processes.wait_ended([process.identity for process in found], 100)
    return True


def _living(is_meant: Callable[[int], bool]) -> tuple[Process, ...]:
    found = (processes.look(pid) for pid in _pids() if is_meant(pid))
    return tuple(process for process in found if process is not None)


def _drives(pid: int, root: str, job: str) -> bool:
    words = _words(pid, "cmdline")
    if _MODULE not in words or os.fsencode(job) not in words:
        return False
    options = dict(pairwise(words))
    is_of_job = options.get(b"--job") == os.fsencode(job)
    return is_of_job and os.path.realpath(options.get(b"--root", b"")) == os.fsencode(root)


def _words(pid: int, name: str) -> list[bytes]:
    """Words of a command line or an environment; none of what is gone or somebody else's."""
    try:
        return processes.words(pid, name)
    except OSError:
        return []


def _pids() -> list[int]:
    try:
        return [pid for pid in processes.pids() if pid != os.getpid()]
    except OSError:
        return []  # a system without /proc runs no tasks of ours
