"""Departure notices of a job and what came of them, as agents wrote them down."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from phalanx.app.jobs import Job

_OUTCOME = ".outcome"


@dataclass(frozen=True)
class SeenNotice:
    """One notice to one slot in one attempt."""

    where: str
    """Its key below the job's folder."""
    says: str
    at_ns: int | None


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
        says = _says(words, _words(job, f"{folder}/{name}{_OUTCOME}"))
        at_ns = words.get("seen_at_ns")
        found.append(SeenNotice(f"notices/{name}", says, at_ns if type(at_ns) is int else None))
    return tuple(sorted(found, key=lambda notice: (notice.at_ns or 0, notice.where)))


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
