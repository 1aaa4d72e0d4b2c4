"""What phalanx costs while nothing fails: its own CPU time, and the job's step time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from bench import lines, place, procs, stats
from bench.raw import Trial, Trials, say
from bench.stats import Goal, Row
from bench.systems import START_LIMIT_S, Phalanx, Session, Shape, Torchrun

SHAPE = Shape(2, 1, step_s=0.0, every=200, batch=384)
"""Steps of pure computing, about 50 ms, so that the job's CPU time is that of real training."""
WINDOW_S = 20.0 if place.QUICK else 125.0
BLOCK_S = 2.5 if place.QUICK else 5.0
FROM_STEP = 20


def run() -> tuple[list[Row], list[str]]:
    """All trials not done yet; rows and notes."""
    trials = Trials("overhead")
    systems = {"phalanx-2x1": _once(Phalanx), "torchrun": _once(Torchrun)}
    say(f"overhead: {WINDOW_S:g} s of pure computing, 2 ranks, save every {SHAPE.every} steps")
    trials.interleave("no faults", systems, place.trials(3, 1))
    return rows(trials), notes(trials)


def _once(kind: type[Session]) -> Callable[[int], Trial]:
    def once(trial: int) -> Trial:
        session = kind(SHAPE)
        began = time.monotonic()
        try:
            session.start()
            if not procs.until(lambda: session.reached(FROM_STEP), START_LIMIT_S, 0.05):
                raise RuntimeError(f"{session.name} did not start")
            started_s = (_steps(session)[0].at_ns / 1e9) - began
            blocks = _watch(session)
            return {"start_s": round(started_s, 2), **_words(session, blocks)}
        finally:
            session.end()

    return once


def _steps(session: Session) -> list[lines.Line]:
    return [line for line in session.lines()[0] if line.kind == "step"]


def _watch(session: Session) -> list[dict[str, float]]:
    """CPU seconds by role, block by block."""
    blocks: list[dict[str, float]] = []
    before: dict[int, float] = {}
    roles = _roles(session)
    for pids in roles.values():
        before.update({pid: procs.cpu_s(pid) for pid in pids})
    end = time.monotonic() + WINDOW_S
    while time.monotonic() < end:
        time.sleep(BLOCK_S)
        used: dict[str, float] = {}
        for role, pids in _roles(session).items():
            now = {pid: procs.cpu_s(pid) for pid in pids}
            used[role] = sum(max(0.0, now[pid] - before.get(pid, 0.0)) for pid in pids)
            before.update(now)
        blocks.append({role: round(seconds, 3) for role, seconds in used.items()})
    return blocks


def _roles(session: Session) -> dict[str, list[int]]:
    if isinstance(session, Phalanx):
        return session.processes()
    return {"ranks": sorted({line.pid for one in session.lines() for line in one})}


def _words(session: Session, blocks: list[dict[str, float]]) -> Trial:
    times = lines.step_times_ms(session.lines()[0], FROM_STEP)
    per_block = max(1, int(len(times) / max(1, len(blocks))))
    medians = [
        round(stats.median(times[at : at + per_block]), 3)
        for at in range(0, len(times) - per_block + 1, per_block)
    ]
    return {
        "median_ms": round(stats.median(times), 3),
        "mean_ms": round(sum(times) / len(times), 3),
        "block_median_ms": medians,
        "cpu": blocks,
    }


def rows(trials: Trials) -> list[Row]:
    """Every row that the trials so far give."""
    ours, peer = trials.of("no faults", "phalanx-2x1"), trials.of("no faults", "torchrun")
    if not ours or not peer:
        return []
    pairs = [(_own(block), block["ranks"]) for trial in ours for block in trial["cpu"]]
    goal = Goal("ours/peer", 1.01)
    return [
        stats.share_row("overhead.cpu", pairs, "% (CPU s)", Goal("100*ours/peer", 0.5)),
        stats.ratio_row("overhead.step_median", _blocks(ours), _blocks(peer), "ms", goal),
        stats.ratio_row("overhead.wall", _all(ours, "mean_ms"), _all(peer, "mean_ms"), "ms", None),
        stats.ratio_row(
            "overhead.start_to_first_step", _all(ours, "start_s"), _all(peer, "start_s"), "s", None
        ),
    ]


def _blocks(trials: list[Trial]) -> list[float]:
    return [ms for trial in trials for ms in trial["block_median_ms"]]


def _all(trials: list[Trial], name: str) -> list[float]:
    return [trial[name] for trial in trials]


def _own(block: dict[str, float]) -> float:
    return sum(seconds for role, seconds in block.items() if role != "ranks")


def notes(trials: Trials) -> list[str]:
    """Who used how much."""
    blocks: list[dict[str, Any]] = [
        block for trial in trials.of("no faults", "phalanx-2x1") for block in trial["cpu"]
    ]
    found = [f"CPU time is that from step {FROM_STEP} on; what starting costs is not in it."]
    for role in ("ranks", "agents", "controller", "warm"):
        found.append(f"CPU seconds of {role}: {sum(b.get(role, 0.0) for b in blocks):.2f}")
    return found
