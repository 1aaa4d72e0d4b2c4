"""Departure notices of a job and what came of them, as agents wrote them down."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from phalanx.app.jobs import Job
from phalanx.app.look import read, step_of
from phalanx.state.gang import Head

_OUTCOME = ".outcome"


@dataclass(frozen=True)
class SeenNotice:
    """One notice to one slot in one attempt."""

    where: str
    """Its key below the job's folder."""
    says: str
    at_ns: int | None
    source: str = ""
    """`stop-save`, `pause`, `SIGTERM`, `spot` or `rebalance`."""
    saved: str = ""
    """The checkpoint that all ranks of the slot saved for it."""
    declined: str = ""
    """Why there is none."""


def seen_notices(job: Job, attempts: frozenset[int]) -> tuple[SeenNotice, ...]:
    """Notices of these attempts, oldest first; what cannot be understood is left out."""
    folder, store = job.keys.notices, job.root.store
    names = [name for name in store.list(folder) if not name.endswith(_OUTCOME)]
    found = []
    for name in names:
        attempt = name.rpartition("-")[2]
        words = _words(job, f"{folder}/{name}")
        if words is None or not attempt.isdecimal() or int(attempt) not in attempts:
            continue
        outcome = _words(job, f"{folder}/{name}{_OUTCOME}")
        at_ns = words.get("seen_at_ns")
        found.append(
            SeenNotice(
                f"notices/{name}",
                _says(words, outcome),
                at_ns if type(at_ns) is int else None,
                str(words.get("source") or ""),
                str((outcome or {}).get("saved") or ""),
                str((outcome or {}).get("declined") or ""),
            )
        )
    return tuple(sorted(found, key=lambda notice: (notice.at_ns or 0, notice.where)))


@dataclass(frozen=True)
class LastSave:
    """What came of the save that a job was asked for before its ranks ended."""

    saved: str = ""
    """The checkpoint; '' for none."""
    declined: str = ""
    """Why there is none; '' when nobody said."""


def last_save(
    notices: tuple[SeenNotice, ...], source: str, attempt: int, head: str | None
) -> LastSave:
    """Of an attempt's notices with this source, one a slot; `head` is the newest checkpoint.

    One slot that declined is enough for none, unless the save of the others was committed after
    all.
    """
    mine = [n for n in notices if n.source == source and n.where.endswith(f"-{attempt}")]
    saved = [notice.saved for notice in mine if notice.saved]
    declined = [notice.declined for notice in mine if notice.declined]
    if saved and (not declined or head in saved):
        return LastSave(saved=saved[0])
    return LastSave(declined=declined[0] if declined else "")


def unsaved(job: Job, source: str) -> str:
    """Why the last save that somebody asked for was not made, and what is saved; '' when it was."""
    attempt, head = job.record.attempt, read(job, Head, job.keys.head)
    newest = head.checkpoint if head else None
    made = last_save(seen_notices(job, frozenset({attempt})), source, attempt, newest)
    if made.saved:
        return ""
    why = (
        f"the last save was declined: {made.declined}" if made.declined else "no last save was made"
    )
    step = step_of(newest)
    return f"{why}; {f'step {step} is the newest that is saved' if step else 'nothing is saved'}"


def _says(words: dict[str, Any], outcome: dict[str, Any] | None) -> str:
    kind = "with a deadline" if words.get("deadline") else "without a deadline"
    told = f"{words.get('source')} notice to slot {words.get('slot')}, {kind}"
    if outcome is None:
        return f"{told}: no answer is known"
    if outcome.get("saved"):
        return f"{told}: all ranks saved {outcome['saved']}"
    return f"{told}: declined to save: {outcome.get('declined')}"


def _words(job: Job, key: str) -> dict[str, Any] | None:
    found = job.root.store.read(key)
    try:
        words = json.loads(found.data) if found is not None else None
    except (ValueError, RecursionError):
        return None
    return words if isinstance(words, dict) else None
