"""Which jobs `ps` lists: by name, phase, time and number; newest first."""

from __future__ import annotations

import re
from calendar import timegm
from fnmatch import fnmatchcase
from typing import NamedTuple

from phalanx.app.jobs import Job
from phalanx.clock import SECOND_NS
from phalanx.errors import InputError
from phalanx.names import split_job_id
from phalanx.words import Phase

ENDED_SHOWN = 20
"""Ended jobs of a list that nobody asked for in particular."""

_TIME = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[T ](\d\d?):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?Z?", re.ASCII
)


class Wanted(NamedTuple):
    """What a list is to hold; every condition must be met."""

    names: tuple[str, ...] = ()
    """Patterns of ids or bare names: `gpt`, `gpt-3`, `*-eval`; none means every name."""
    phases: tuple[Phase, ...] = ()
    ended: bool | None = None
    """Only jobs that have ended, or only others; None for both."""
    since_ns: int | None = None
    """Only jobs that were not over by this store time."""
    limit: int | None = None
    """At most so many, the newest."""
    ended_limit: int | None = None
    """At most so many of those that have ended, the newest."""


EVERYTHING = Wanted()
"""All jobs."""


class Listed(NamedTuple):
    """The jobs, newest first, and how many others met every condition but the limits."""

    jobs: tuple[Job, ...]
    left_out: int


def listed(jobs: tuple[Job, ...], wanted: Wanted) -> Listed:
    """The jobs that are wanted."""
    met = sorted((job for job in jobs if _meets(job, wanted)), key=_age, reverse=True)
    kept, ended = [], 0
    for job in met:
        ended += job.record.phase.is_terminal
        is_over = wanted.ended_limit is not None and ended > wanted.ended_limit
        if not (is_over and job.record.phase.is_terminal):
            kept.append(job)
    shown = kept[: wanted.limit] if wanted.limit is not None else kept
    return Listed(tuple(shown), len(met) - len(shown))


def _meets(job: Job, wanted: Wanted) -> bool:
    record = job.record
    split = split_job_id(job.id)
    names = (job.id, split[0] if split else job.id)
    is_ended = record.phase.is_terminal
    return (
        (not wanted.names or any(fnmatchcase(n, p) for n in names for p in wanted.names))
        and (not wanted.phases or record.phase in wanted.phases)
        and wanted.ended in (None, is_ended)
        and (not is_ended or (record.ended_ns or record.since_ns) >= (wanted.since_ns or 0))
    )


def _age(job: Job) -> tuple[int, str, int]:
    name, number = split_job_id(job.id) or (job.id, 0)
    return job.record.created_ns, name, number


def since(text: str, now_ns: int) -> int:
    """Store time of `2h`, `7d` (ago), `2026-12-01` or `2026-12-01T09:30` (UTC).

    Raises `InputError`.
    """
    match = _TIME.fullmatch(text)
    if match:
        numbers = [int(number or 0) for number in match.groups()]
        if 1 <= numbers[1] <= 12 and 1 <= numbers[2] <= 31 and numbers[3] < 24:
            return timegm((*numbers, 0, 0, 0)) * SECOND_NS
    from phalanx.spec.units import duration_s
    from phalanx.spec.wrong import Wrong

    try:
        return now_ns - int(duration_s(text) * SECOND_NS)
    except Wrong:
        raise InputError(
            f"--since {text!r} is no time", hint="write 2h or 7d for ago, or 2026-12-01T09:30"
        ) from None


def phase_of(text: str) -> Phase:
    """`running` → Running. Raises `InputError`, with near names."""
    for phase in Phase:
        if phase.value.lower() == text.lower():
            return phase
    from difflib import get_close_matches

    names = [phase.value.lower() for phase in Phase]
    near = get_close_matches(text.lower(), names, 1)
    hint = f"did you mean {near[0]}?" if near else f"phases are {', '.join(names)}"
    raise InputError(f"--phase {text!r} is no phase", hint=hint)
