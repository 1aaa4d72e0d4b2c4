"""Did the kernel end a process for want of memory? Its own counters say so; its log needs rights.

The kernel counts before it sends the signal, so a rank that is seen to be gone has been counted.
"""

from __future__ import annotations

import contextlib
import os

RANK_SCORE = 500
"""Added to what a rank inherits (0 mostly, at most 1000): it goes before agents and controllers."""


def offer(pid: int) -> None:
    """Let the kernel choose this process, and all that it starts, before others like it."""
    path = f"/proc/{pid}/oom_score_adj"
    with contextlib.suppress(OSError, ValueError):
        with open(path) as file:
            score = int(file.read())
        with open(path, "w") as file:
            file.write(str(min(1000, max(score, 0) + RANK_SCORE)))


class KernelKills:
    """A counter of the kernel's kills, and what it said at the last look."""

    def __init__(self, counter: str | None = None) -> None:
        """`counter`: a file of `name value` lines, one of them `oom_kill`; found when None."""
        self._path = counter if counter is not None else _counter()
        self._seen = self._before = self._read()

    @property
    def where(self) -> str:
        """The file that is read."""
        return self._path

    def note(self) -> None:
        """A look: kills before the last one are old by now."""
        self._before, self._seen = self._seen, self._read()

    def since(self) -> int:
        """Kills since the last `note` but one: a look may come between a kill and its finding."""
        return max(0, self._read() - self._before)

    def _read(self) -> int:
        with contextlib.suppress(OSError, ValueError, IndexError), open(self._path) as file:
            for line in file:
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
        return 0


def _counter() -> str:
    """The nearest counter: of this process's own control group, else of the whole machine."""
    found = []
    with contextlib.suppress(OSError), open("/proc/self/cgroup") as file:
        for line in file:
            _, kinds, path = line.rstrip("\n").split(":", 2)
            if kinds == "memory":
                found.append(f"/sys/fs/cgroup/memory{path}/memory.oom_control")
            elif kinds == "":
                found.append(f"/sys/fs/cgroup{path}/memory.events")
    found += ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"]
    return next((path for path in found if _has_counter(path)), "/proc/vmstat")


def _has_counter(path: str) -> bool:
    with contextlib.suppress(OSError):
        if os.path.isfile(path):
            with open(path) as file:
                return any(line.startswith("oom_kill ") for line in file)
    return False
