"""Who writes: an id that no other process has, now or later, on any host."""

from __future__ import annotations

import os
import re


def writer_id() -> str:
    """`host-pid-starttime-random`; each call gives another one.

    Give every `Store` an id of its own: its growing number counts from 1.
    """
    host = re.sub(r"[^A-Za-z0-9]+", "-", os.uname().nodename)[:40].strip("-") or "host"
    return f"{host}-{os.getpid()}-{_start_time()}-{os.urandom(4).hex()}"


def _start_time() -> int:
    """Ticks from boot to the start of this process; 0 where the system does not tell."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
            # The command may hold spaces and brackets, so count from its closing bracket.
            return int(file.read().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0
