"""The list of jobs for people."""

from __future__ import annotations

from typing import Any

from phalanx.cli.view import seconds, table

View = dict[str, Any]

_HEADER = ("JOB", "PHASE", "STEP", "TO GO", "RANKS", "RESTARTS", "SINCE (UTC)", "REASON")


def ps(view: View) -> str:
    """One job a line."""
    if not view["jobs"]:
        return "no jobs" if not view["left_out"] else "no such jobs"
    return table([_HEADER, *(_row(job) for job in view["jobs"])])


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
