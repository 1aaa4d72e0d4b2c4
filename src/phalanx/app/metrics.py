"""Read the metrics that ranks keep: for each step the values of the attempt whose work survived."""

from __future__ import annotations

import os
import re
from typing import Any

from phalanx.app.jobs import Job
from phalanx.app.look import read
from phalanx.errors import InputError
from phalanx.state.gang import World
from phalanx.state.metrics import Series, series

_FILE = re.compile(r"(?P<rank>[0-9]{5,})\.jsonl")


def metrics_view(job: Job, rank: int | None = None, name: str | None = None) -> dict[str, Any]:
    """`phalanx.metrics/1` of one rank; None: the lowest that reported any.

    `name` keeps one metric. Raises `InputError` for a rank or a name that nothing was reported of.
    """
    ranks = ranks_of(job)
    if rank is not None and rank not in ranks:
        raise InputError(f"rank {rank} of {job.id} has reported no metrics", hint=_hint(ranks))
    chosen = rank if rank is not None else min(ranks, default=0)
    found = rank_series(job, chosen) if ranks else Series()
    names = sorted({name for point in found.points for name in point.values})
    if name is not None and name not in names:
        known = f"it reports {', '.join(names)}" if names else _hint(ranks)
        raise InputError(f"rank {chosen} of {job.id} has reported no {name!r}", hint=known)
    points = [
        {
            "step": point.step,
            "attempt": point.attempt,
            "at": point.time,
            "values": {n: v for n, v in point.values.items() if name in (None, n)},
        }
        for point in found.points
    ]
    return {
        "schema": "phalanx.metrics/1",
        "job": job.id,
        "phase": job.record.phase.value,
        "rank": chosen,
        "ranks": list(ranks),
        "names": names if name is None else [name],
        "superseded": found.superseded,
        "points": [point for point in points if point["values"]],
    }


def ranks_of(job: Job) -> tuple[int, ...]:
    """Ranks that reported metrics."""
    try:
        found = os.listdir(f"{job.root.folder}/{job.keys.metrics}")
    except OSError:
        return ()
    return tuple(sorted(int(m["rank"]) for file in found if (m := _FILE.fullmatch(file))))


def rank_series(job: Job, rank: int) -> Series:
    """The points of one rank that count."""
    attempts = range(job.record.attempt + 1)
    worlds = [read(job, World, job.keys.world(attempt)) for attempt in attempts]
    resumed = {world.attempt: world.checkpoint_step for world in worlds if world is not None}
    path = f"{job.root.folder}/{job.keys.metrics_file(rank)}"
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return series(file, resumed)
    except OSError:
        return Series()


def _hint(ranks: tuple[int, ...]) -> str:
    if not ranks:
        return "give numbers to Checkpointer.step: `checkpointer.step(step, loss=loss)`"
    return f"these have: {', '.join(map(str, ranks))}"
