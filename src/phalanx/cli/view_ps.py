"""The list of jobs for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from phalanx.cli.view import seconds, table

View = dict[str, Any]

_HEADER = ("JOB", "PHASE", "STEP", "TO GO", "RANKS", "RESTARTS", "SINCE (UTC)", "REASON")


def ps(view: View, names: Sequence[str] = (), *, is_filtered: bool = False) -> str:
    """One job a line. `names` were asked for; `is_filtered`: there were other conditions."""
    if not view["jobs"]:
        return _none(names, is_filtered)
    return table([_HEADER, *(_row(job) for job in view["jobs"])])


def _none(names: Sequence[str], is_filtered: bool) -> str:
    conditions = [" or ".join(map(repr, names)), "these options" if is_filtered else ""]
    said = " and ".join(filter(None, conditions))
    return f"no jobs match {said}" if said else "no jobs"


def _row(job: View) -> tuple[str, ...]:
    restarts = job["restarts"]
    return (
        job["job"],
        job["phase"],
        f"{job['step']}/{job['total_steps'] or '?'}",
        seconds(job["eta_s"] * 10**9) if job["eta_s"] is not None else "",
        str(job["world_size"]),
        str(restarts["counted"] + restarts["uncounted"]),
        job["since"][:19].replace("T", " "),
        job["reason"],
    )
