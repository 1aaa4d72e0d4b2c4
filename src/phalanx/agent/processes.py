"""Linux process primitives: process file descriptors, parent-death signals, groups, children."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def die_with_parent(parent: int) -> None:
    """This process is killed when the thread that forked it ends. Call in the child.

    A parent that died before the call is noticed by comparing `parent` with the parent now.
    """
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Orphans below this process become its children, so that none escapes unseen."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl failed")


def open_pidfd(pid: int) -> int | None:
    """A descriptor that turns readable when the process ends; None when it is gone already."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


def signal_group(pgid: int, signum: int) -> None:
    """Signal a process group; one that is gone is no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pgid, signum)


def signal_process(pid: int, signum: int) -> None:
    """Signal one process; one that is gone is no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signum)


def children(pid: int | None = None) -> list[int]:
    """Direct children of a process, also adopted ones."""
    base = f"/proc/{pid or os.getpid()}/task"
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(base):
            with contextlib.suppress(OSError), open(f"{base}/{thread}/children") as text:
                found.extend(int(word) for word in text.read().split())
    return found


def descendants(pid: int | None = None) -> list[int]:
    """All processes below one, nearest first."""
    found, queue = [], children(pid)
    while queue:
        one = queue.pop(0)
        found.append(one)
        queue.extend(children(one))
    return found


def kill_orphans(keep: Iterable[int]) -> list[int]:
    """Kill and reap adopted children that are not in `keep`; returns those that were there."""
    kept = set(keep)
    strangers = [pid for pid in children() if pid not in kept]
    for pid in strangers:
        for below in descendants(pid):
            signal_process(below, signal.SIGKILL)
        signal_process(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return strangers
