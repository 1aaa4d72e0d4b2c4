"""Read what the ledger is computed from, and say it."""

from __future__ import annotations

import re

from phalanx.app.jobs import Job
from phalanx.app.ledger import Facts, Ledger, Live, compute
from phalanx.app.look import read, seen_beat, step_of
from phalanx.app.slow import slow_view
from phalanx.app.views import View
from phalanx.names import split_seat_name
from phalanx.state.gang import Head, LedgerEntry, World

_SEAT = re.compile(r"\d+\.\d+")


def ledger_view(job: Job) -> View:
    """`phalanx.ledger/1`."""
    ledger = compute(facts_of(job))
    return {
        "schema": "phalanx.ledger/1",
        "job": job.id,
        "phase": job.record.phase.value,
        "wall_ns": ledger.wall_ns,
        "instance_ns": ledger.instance_ns,
        "labels": dict(ledger.labels),
        "ettr": _ettr(ledger),
        "slow": [
            {"attempt": attempt, **slow_view(slow), "message": slow.words(over=True)}
            for attempt, slow in ledger.slow
        ],
    }


def _ettr(ledger: Ledger) -> View:
    return {"user": ledger.user, "capacity": ledger.capacity, "paid": ledger.paid}


def facts_of(job: Job) -> Facts:
    """Entries, beats and worlds of every attempt of one job."""
    keys, store = job.keys, job.root.store
    names = store.list(keys.ledger)
    entries = [read(job, LedgerEntry, f"{keys.ledger}/{name}") for name in names]
    attempts = range(job.record.attempt + 1)
    worlds = [read(job, World, keys.world(attempt)) for attempt in attempts]
    head = read(job, Head, keys.head)
    now_ns = store.now_ns()
    written = {(e.slot, e.incarnation, e.attempt) for e in entries if e is not None}
    lives = [live for attempt in attempts for live in _lives(job, attempt, now_ns, written)]
    return Facts(
        record=job.record,
        entries=tuple(entry for entry in entries if entry is not None),
        lives=tuple(lives),
        worlds=tuple(world for world in worlds if world is not None),
        head_step=step_of(head.checkpoint if head else None),
        now_ns=now_ns,
    )


def _lives(job: Job, attempt: int, now_ns: int, written: set[tuple[int, int, int]]) -> list[Live]:
    """Life signs of an attempt that left no entry: beats, else the member's bare existence."""
    lives = []
    members = job.root.store.list(job.keys.members(attempt))
    beats = job.root.store.list(job.keys.beats(attempt))
    for name in sorted({*members, *beats}):
        if not _SEAT.fullmatch(name):
            continue
        slot, incarnation = split_seat_name(name)
        if (slot, incarnation, attempt) in written:
            continue
        seen = seen_beat(job, job.keys, attempt, slot, incarnation)
        # Without a beat nobody knows when it was seen last: the whole span stays unknown.
        seen_ns = now_ns - seen.age_ns if seen else 0
        entry = seen.beat.entry if seen else None
        lives.append(Live(slot, incarnation, attempt, seen_ns, entry))
    return lives
