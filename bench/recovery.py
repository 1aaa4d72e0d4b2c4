"""kill -9 of one rank to the next finished step of all ranks, beside torchrun and Ray Train."""

from __future__ import annotations

from collections.abc import Callable

from bench import peers, place, stats, timeline
from bench.raw import Trial, Trials, say
from bench.stats import Goal, Row
from bench.systems import (
    Kill,
    Phalanx,
    Ray,
    Session,
    Shape,
    Torchrun,
    TorchrunSeparate,
    kill_a_rank,
)

LIMIT_S = 20.0 if place.QUICK else 30.0
"""A trial that has not recovered by then is a failure and counts as this long."""
LARGE_LIMIT_S = 120.0
PEER_SHARE, FEWEST_PEER_TRIALS = 4, 3
"""Each peer takes part in every fourth of our trials: most of theirs last until the limit."""


def run() -> tuple[list[Row], list[str]]:
    """All trials not done yet; rows and notes."""
    trials = Trials("recovery")
    count, notes = place.trials(30, 2), []
    two, four = Shape(2, 1), Shape(2, 2)
    systems: dict[str, tuple[type[Session], Shape]] = {
        "phalanx-1x2": (Phalanx, Shape(1, 2)),
        "phalanx-2x1": (Phalanx, two),
        "torchrun": (Torchrun, two),
        "torchrun-separate": (TorchrunSeparate, two),
    }
    python, reason = peers.ray_python()
    Ray.python = python or ""
    if Ray.python:
        systems["ray"] = (Ray, two)
    else:
        notes.append(f"Ray Train was skipped: {reason}")
        say(notes[-1])
    peer = dict.fromkeys([name for name, _ in _PEERS], max(FEWEST_PEER_TRIALS, count // PEER_SHARE))
    notes += _case(trials, "2 ranks", systems, count, {"ray": 1} if place.QUICK else peer)
    systems = {
        "phalanx-2x2": (Phalanx, four),
        "torchrun": (Torchrun, four),
        "torchrun-separate": (TorchrunSeparate, four),
    }
    notes += _case(trials, "4 ranks", systems, count if not place.QUICK else min(count, 1), peer)
    if not place.QUICK:
        large = Shape(2, 1, size="large", batch=1)
        systems = {"phalanx-2x1": (Phalanx, large), "torchrun-separate": (TorchrunSeparate, large)}
        notes += _case(trials, "50M parameters", systems, min(count, 5))
    return rows(trials), notes + profile(trials)


def _case(
    trials: Trials,
    case: str,
    systems: dict[str, tuple[type[Session], Shape]],
    count: int,
    most: dict[str, int] | None = None,
) -> list[str]:
    limit_s = LARGE_LIMIT_S if case.startswith("50M") else LIMIT_S
    notes = []
    for name, (kind, shape) in systems.items():
        words = f"{case}, {name}: {_settings(kind, shape)}"
        say(f"{words}; limit {limit_s:g} s, step {shape.step_s} s, save every {shape.every} steps")
        notes.append(words)
    once = {name: _once(kind, shape, limit_s) for name, (kind, shape) in systems.items()}
    trials.interleave(case, once, count, most)
    return notes


def _settings(kind: type[Session], shape: Shape) -> str:
    session = kind(shape)
    words = session.settings()
    Session.end(session)
    return words


def _once(kind: type[Session], shape: Shape, limit_s: float) -> Callable[[int], Trial]:
    def once(trial: int) -> Trial:
        session = kind(shape)
        try:
            session.start()
            kill = kill_a_rank(session, trial, limit_s)
            return _words(session, kill)
        finally:
            session.end()

    return once


def _words(session: Session, kill: Kill) -> Trial:
    words: Trial = {"seconds": round(kill.seconds, 4), "recovered": kill.recovered}
    if isinstance(session, Phalanx) and kill.recovered:
        words["stages_ms"] = timeline.stages_ms(session, kill)
    return words


_GOALS = (
    ("2 ranks", "phalanx-1x2", "recovery.1x2", 0.30, 0.6),
    ("2 ranks", "phalanx-2x1", "recovery.2x1", 0.30, 0.6),
    ("4 ranks", "phalanx-2x2", "recovery.2x2", 0.60, None),
    ("50M parameters", "phalanx-2x1", "recovery.2x1.50M", None, None),
)
_PEERS = (("torchrun", 5.0), ("torchrun-separate", 5.0), ("ray", 25.0))


def rows(trials: Trials) -> list[Row]:
    """Every row that the trials so far give."""
    found = []
    for case, system, name, middle_s, tail_s in _GOALS:
        ours = trials.values(case, system, "seconds")
        if not ours:
            continue
        found.append(stats.value_row(f"{name}.median", ours, "s", _at_most(middle_s)))
        found.append(stats.value_row(f"{name}.p95", ours, "s", _at_most(tail_s), 0.95))
        found += _recovered_rows(trials, case, system, name)
        for peer, least in _PEERS:
            theirs = trials.values(case, peer, "seconds")
            if theirs:
                goal = Goal("peer/ours", least, is_least=True) if middle_s is not None else None
                found.append(stats.ratio_row(f"{name}.vs_{peer}", ours, theirs, "s", goal))
        alone = _relaunch_s(trials, case, system)
        if alone:
            found.append(stats.value_row(f"{name}.relaunch_alone", alone, "s", None))
    return found


def _at_most(limit: float | None) -> Goal | None:
    return None if limit is None else Goal("ours", limit)


def _recovered_rows(trials: Trials, case: str, system: str, name: str) -> list[Row]:
    """How many kills were survived at all, in percent, ours and each peer's."""

    def percent(one: str) -> float | None:
        got = [bool(t["recovered"]) for t in trials.of(case, one)]
        return 100.0 * sum(got) / len(got) if got else None

    ours, count = percent(system), len(trials.of(case, system))
    goal = "ours >= 100"
    return [
        Row(f"{name}.recovered_vs_{peer}", ours, percent(peer), None, "%", count, ours, ours, goal,
            ours == 100.0)
        for peer, _ in _PEERS
        if trials.of(case, peer)
    ]  # fmt: skip


def _relaunch_s(trials: Trials, case: str, system: str) -> list[float]:
    """The world known to be gone → a new world frozen and all of its ranks forked."""
    stages = [t["stages_ms"] for t in trials.of(case, system) if "stages_ms" in t]
    return [(s["born"] - s["end"]) / 1e3 for s in stages if "born" in s and "end" in s]


def profile(trials: Trials) -> list[str]:
    """A table of the stages, as lines of Markdown."""
    table = []
    for case, system, name, _, _ in _GOALS:
        stages = [t["stages_ms"] for t in trials.of(case, system) if "stages_ms" in t]
        if not stages:
            continue
        table += ["", f"Where the time of {name} goes (medians, ms after the kill):", ""]
        table += ["| stage | done at | took |", "| --- | ---: | ---: |"]
        before = 0.0
        for title, key in timeline.STAGES:
            values = [s[key] for s in stages if key in s]
            if values:
                now = stats.median(values)
                table.append(f"| {title} | {now:.0f} | {now - before:.0f} |")
                before = now
    return table
