"""Processes as /proc tells them: CPU time, descendants, marks."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """User and system seconds of a process so far; 0 when it is gone."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) * TICK_S


def all_pids() -> list[int]:
    """Every process but this one."""
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]


def marked(mark: str) -> list[int]:
    """Processes with `mark` in their command line or environment."""
    return [pid for pid in all_pids() if mark in _told(pid, "cmdline") + _told(pid, "environ")]


def command(pid: int) -> str:
    """Command line; '' when it is gone."""
    return _told(pid, "cmdline")


def _told(pid: int, what: str) -> str:
    try:
        data = Path(f"/proc/{pid}/{what}").read_bytes()
    except OSError:
        return ""
    return data.replace(b"\0", b" ").decode(errors="replace")


def parent(pid: int) -> int:
    """Parent process; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def descendants(pid: int) -> list[int]:
    """All processes below one."""
    below: dict[int, list[int]] = {}
    for one in all_pids():
        below.setdefault(parent(one), []).append(one)
    found, queue = [], [pid]
    while queue:
        children = below.get(queue.pop(), [])
        found += children
        queue += children
    return found


def kill(pids: Iterable[int], signum: int = signal.SIGKILL) -> None:
    """Signal processes; those that are gone are no error."""
    for pid in pids:
        try:
            os.kill(pid, signum)
        except ProcessLookupError:
            continue


def until(there: Callable[[], bool], limit_s: float, pause_s: float = 0.005) -> bool:
    """Wait for a condition; False when the limit passed first."""
    deadline = time.monotonic() + limit_s
    while not there():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause_s)
    return True
