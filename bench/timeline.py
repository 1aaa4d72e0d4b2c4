"""Where the time of a recovery went, read from the objects of the root and the ranks' lines."""

from __future__ import annotations

import time
from pathlib import Path

from bench import lines
from bench.systems import Kill, Phalanx

STAGES = (
    ("first end durable", "end"),
    ("next attempt recorded", "record"),
    ("last member durable", "members"),
    ("checkpoints sealed", "seal"),
    ("world durable", "world"),
    ("last rank forked, script begun", "born"),
    ("process group", "group"),
    ("model built", "model"),
    ("checkpoint restored", "restored"),
    ("first step finished by all", "step"),
)
"""Title and name of each stage, in order."""


def stages_ms(session: Phalanx, kill: Kill) -> dict[str, float]:
    """Milliseconds after the kill at which each stage was done; a stage not found is left out."""
    job = session.root / "jobs" / session.job
    offset_ns = time.time_ns() - time.monotonic_ns()
    attempt = job / "attempts"
    done = {
        "end": _first(attempt / "0" / "ends", kill, offset_ns),
        "record": _first(job / "record", kill, offset_ns),
        "members": _last(attempt / "1" / "members", kill, offset_ns),
        "seal": _first(job / "checkpoints" / "HEAD", kill, offset_ns),
        "world": _one(attempt / "1" / "world", kill, offset_ns),
    }
    old = set(kill.old)
    for kind in ("born", "group", "model", "restored", "step"):
        at_ns = lines.recovered_ns(session.lines(), old, kind)
        done[kind] = None if at_ns is None else (at_ns - kill.killed_ns) / 1e6
    return {name: round(ms, 2) for name, ms in done.items() if ms is not None}


def _ages(folder: Path, kill: Kill, offset_ns: int) -> list[float]:
    """Milliseconds after the kill at which each file of a folder was durable and announced."""
    paths = [p for p in folder.iterdir() if p.is_file()] if folder.is_dir() else []
    ages = [(p.stat().st_ctime_ns - offset_ns - kill.killed_ns) / 1e6 for p in paths]
    return sorted(age for age in ages if age > 0)


def _first(folder: Path, kill: Kill, offset_ns: int) -> float | None:
    ages = _ages(folder, kill, offset_ns)
    return ages[0] if ages else None


def _last(folder: Path, kill: Kill, offset_ns: int) -> float | None:
    ages = _ages(folder, kill, offset_ns)
    return ages[-1] if ages else None


def _one(path: Path, kill: Kill, offset_ns: int) -> float | None:
    if not path.exists():
        return None
    return (path.stat().st_ctime_ns - offset_ns - kill.killed_ns) / 1e6
