"""Processes as /proc tells them. Every identity is (pid, start time, boot): pids are reused.

Linux only; nothing here is called on another system (`backend` refuses first).
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterable
from typing import NamedTuple

from phalanx.backends.local import marks

_KEYS = {name.encode(): name for name in (marks.ROOT, marks.JOB, marks.TASK, marks.CONTROLLER)}


class Process(NamedTuple):
    """One living process."""

    pid: int
    start: int
    """Start time in clock ticks since boot."""
    parent: int
    session: int
    root: str = ""
    job: str = ""
    task: str = ""
    """The launch token that its environment carries, or ""."""
    is_controller: bool = False

    @property
    def identity(self) -> tuple[int, int]:
        """What tells it from a later process with the same pid."""
        return self.pid, self.start


def boot() -> str:
    """This boot of this machine, in this pid namespace."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        boot_id = file.read().strip()
    return f"{boot_id}/{os.readlink('/proc/self/ns/pid')}"


def start_of(pid: int) -> int | None:
    """Start time of a living process in clock ticks; None when it is gone or a zombie."""
    found = _stat(pid)
    return found.start if found else None


def scan() -> list[Process]:
    """Every living process, with the marks of those of our own user."""
    found = map(look, pids())
    return [process for process in found if process is not None]


def pids() -> list[int]:
    """Of every process that is there now."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def words(pid: int, name: str) -> list[bytes]:
    """What `cmdline` or `environ` of a process holds; raises `OSError` when it may not be read."""
    with open(f"/proc/{pid}/{name}", "rb") as file:
        return file.read().split(b"\0")


def children(identity: tuple[int, int]) -> list[Process]:
    """Living children of one process: far faster than a scan, so that short lives are caught."""
    pid, start = identity
    found: list[bytes] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += file.read().split()
    except OSError:
        return []
    if start_of(pid) != start:
        return []
    processes = (look(int(child)) for child in found)
    return [process for process in processes if process is not None]


def look(pid: int) -> Process | None:
    """One living process, with its marks if it is our own user's; None when it is gone."""
    process = _stat(pid)
    if process is None:
        return None
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.getuid():
            return process
        with open(f"/proc/{pid}/environ", "rb") as file:
            data = file.read()
    except OSError:
        return process
    return _with_marks(process, data) if b"PHALANX_" in data else process


def _with_marks(process: Process, data: bytes) -> Process:
    found = {}
    for item in data.split(b"\0"):
        name, _, value = item.partition(b"=")
        if name in _KEYS:
            found[_KEYS[name]] = os.fsdecode(value)
    return process._replace(
        root=found.get(marks.ROOT, ""),
        job=found.get(marks.JOB, ""),
        task=found.get(marks.TASK, ""),
        is_controller=bool(found.get(marks.CONTROLLER)),
    )


def _stat(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            data = file.read()
    except OSError:
        return None
    # The command's name is in parentheses and may itself hold blanks and parentheses.
    fields = data[data.rfind(b")") + 2 :].split()
    if fields[0] in (b"Z", b"X"):
        return None
    return Process(pid, int(fields[19]), int(fields[1]), int(fields[3]))


def open_process(pid: int, start: int) -> int | None:
    """A pid file descriptor of exactly this process; None when it has ended.

    Raises `OSError` when the system gives no descriptor for another reason.
    """
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    if start_of(pid) == start and not has_ended(fd):
        return fd
    os.close(fd)
    return None


def has_ended(fd: int) -> bool:
    """Whether the process behind a pid file descriptor is over (a zombie is)."""
    return _poll([fd], 0) > 0


def _poll(fds: Iterable[int], timeout_ms: int) -> int:
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return len(poll.poll(timeout_ms))


def send(identity: tuple[int, int], number: int) -> bool:
    """Signal exactly this process; False when it has ended or may not be signalled."""
    fd = open_process(*identity)
    if fd is None:
        return False
    try:
        signal.pidfd_send_signal(fd, number)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(fd)
    return True


def wait_ended(identities: Iterable[tuple[int, int]], timeout_ms: int) -> None:
    """Wait until all of these have ended, at most `timeout_ms` for each."""
    for identity in identities:
        fd = open_process(*identity)
        if fd is not None:
            _poll([fd], timeout_ms)
            os.close(fd)
