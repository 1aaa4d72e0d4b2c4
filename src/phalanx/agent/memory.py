"""How much memory one slot uses, and which rank is ended when it is too much.

Two ends: what the job file allows each node (`resources.memory`), and the end of the machine's own
memory, where the slot that uses more than its equal share gives way. What counts is memory that
cannot be dropped: anonymous pages, shared ones split among their users, and /dev/shm. Counting
that walks page tables, so the resident size, which is never less and costs nothing, is read first.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence

from phalanx.frozen import frozen

LOOK_S = 0.5
SOON_S = 0.1
"""Between two looks while the next one may be too late."""
RECOUNT_S = 30.0
"""Resident sizes above the limit are counted exactly at least this often."""
MACHINE_SHARE = 0.9
"""Of the machine, for all slots of the job together, once nearly nothing is left."""
RESERVE_SHARE = 0.03
RESERVE_MAX = 1 << 30
"""The machine's memory is at its end below this share, or these bytes."""

_PAGE = os.sysconf("SC_PAGE_SIZE")
_COUNTED = (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:")


class Readings:
    """What the kernel says of processes and the machine, in bytes."""

    def resident(self, pid: int) -> int:
        """Resident size of a process; 0 when it is gone."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            return int(_read(f"/proc/{pid}/statm", 128).split()[1]) * _PAGE
        return 0

    def exact(self, pid: int) -> int:
        """What cannot be dropped, shared pages split among their users; 0 when it is gone."""
        total = 0
        with contextlib.suppress(OSError, ValueError):
            for line in _read(f"/proc/{pid}/smaps_rollup", 4096).splitlines():
                if line.startswith(_COUNTED):
                    total += int(line.split()[1]) * 1024
        return total

    def machine(self) -> tuple[int, int]:
        """(all, available) of this machine, within the control group's limit when it has one."""
        found: dict[str, int] = {}
        with contextlib.suppress(OSError, ValueError, IndexError):
            for line in _read("/proc/meminfo", 128).splitlines()[:3]:
                name, _, rest = line.partition(b":")
                found[name.decode()] = int(rest.split()[0]) * 1024
        total, available = found.get("MemTotal", 0), found.get("MemAvailable", 0)
        limit, used = _group_number("memory.max"), _group_number("memory.current")
        if limit is not None and used is not None and limit < total:
            return limit, min(available, limit - used + _droppable())
        return total, available


@frozen
class Overrun:
    """A rank that must go: its key among the families, and why, with the numbers."""

    key: int
    why: str


class MemoryWatch:
    """Looks at one slot's processes again and again; all times are monotonic seconds."""

    def __init__(self, limit: int | None, nodes: int, readings: Readings | None = None) -> None:
        """`limit`: bytes that this slot may use, None for no limit of its own."""
        self._limit = limit
        self._nodes = max(1, nodes)
        self._read = readings or Readings()
        self._due_s = 0.0
        self._last = 0
        self._count_at = limit or 0
        """Resident size from which the exact one is counted again."""
        self._gap = 0
        self._counted_s = 0.0

    def due_in(self, now_s: float) -> float:
        """Seconds until the next look."""
        return max(0.0, self._due_s - now_s)

    def look(
        self, now_s: float, families: Mapping[int, Sequence[int]], others: Sequence[int] = ()
    ) -> Overrun | None:
        """The rank that must go, or None. `families`: each rank's processes, by its number.

        `others` are processes of the slot that are no rank's: the agent and the warm parent.
        """
        self._due_s = now_s + LOOK_S
        pids = [pid for family in families.values() for pid in family] + list(others)
        if self._limit is not None and self._may_be_over(now_s, pids):
            used = self._count(now_s, pids)
            if used > self._limit:
                said = f"resources.memory allows the slot {self._limit:,} bytes"
                return self._largest(families, used, said)
        total, available = self._read.machine()
        if total and available < min(RESERVE_MAX, int(total * RESERVE_SHARE)):
            share = int(total * MACHINE_SHARE / self._nodes)
            used = sum(self._read.exact(pid) for pid in pids)
            if used > share:
                said = f"the machine has {available:,} left and the slot's share is {share:,}"
                return self._largest(families, used, said)
        return None

    def _may_be_over(self, now_s: float, pids: Sequence[int]) -> bool:
        """By the resident size, which the exact one never exceeds and never outgrows."""
        limit = self._limit or 0
        resident = sum(self._read.resident(pid) for pid in pids)
        growth, self._last = resident - self._last, resident
        if growth > 0 and resident + 2 * growth > limit:
            self._due_s = now_s + SOON_S
        if resident <= limit:
            self._count_at, self._gap = limit, 0
            return False
        self._count_at = min(self._count_at, resident + self._gap // 2)
        return resident >= self._count_at or now_s - self._counted_s > RECOUNT_S

    def _count(self, now_s: float, pids: Sequence[int]) -> int:
        limit = self._limit or 0
        used = sum(self._read.exact(pid) for pid in pids)
        self._counted_s = now_s
        self._gap = max(limit - used, limit // 32)
        self._count_at = self._last + self._gap // 2
        return used

    def _largest(
        self, families: Mapping[int, Sequence[int]], used: int, said: str
    ) -> Overrun | None:
        sizes = {k: sum(self._read.exact(p) for p in pids) for k, pids in families.items()}
        if not sizes:
            return None
        key = max(sizes, key=lambda k: (sizes[k], -k))
        mine = f"rank {key} used {sizes[key]:,} bytes of memory, its slot {used:,}"
        return Overrun(key, f"{mine}: {said}; the largest rank was ended")


def _group_number(name: str) -> int | None:
    """A number of this process's own control group (version 2); None without one."""
    with contextlib.suppress(OSError, ValueError):
        return int(_read(f"/sys/fs/cgroup/{name}", 64))
    return None


def _read(path: str, size: int) -> bytes:
    """The first bytes of a file of the kernel, with as few calls as can be."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, size)
    finally:
        os.close(fd)


def _droppable() -> int:
    """File pages of the control group that the kernel would drop."""
    with contextlib.suppress(OSError, ValueError), open("/sys/fs/cgroup/memory.stat") as file:
        for line in file:
            if line.startswith("inactive_file "):
                return int(line.split()[1])
    return 0
