"""Incident timelines: entries in neutral words, put in order, with the first cause named."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from phalanx.explain import pages
from phalanx.explain.logs import first_shown, shown_in_words
from phalanx.explain.model import WARNING, Finding, Path, Words
from phalanx.explain.reading import Evidence
from phalanx.explain.shapes import integer, mapping, moment, spell, text
from phalanx.explain.shown import Shown
from phalanx.explain.situations import MI_DRAIN_HOURS, timeline
from phalanx.explain.task_findings import at
from phalanx.explain.texts import CAUSE
from phalanx.verdict.first_cause import tier_of
from phalanx.verdict.tasks import StoppedTask, TaskEnding, classify_task
from phalanx.words import FailureClass

MI_DRAINED = Words(
    "INC001",
    "mi-host-replaced",
    WARNING,
    "a Managed Instances host was replaced because of its age, and the task on it was stopped",
    "Managed Instances hosts begin to be replaced 14 days after launch and are gone by day 21.",
    "Resume from the last complete checkpoint; for longer runs set a maintenance window or use "
    "EC2 capacity of your own.",
    (pages.MI_PATCHING, pages.MI_DRAIN),
)

_DRAIN = re.compile(
    r"instance draining|drain(?:ed|ing)?\b.*\binstance|host .*(?:replaced|drained)", re.I
)
_TEXTS = ("message", "text", "event", "what", "says", "detail", "description", "log", "reason",
          "stopped_reason", "stoppedReason", "status_reason", "container_reason")  # fmt: skip


def of_incident(evidence: Evidence) -> Iterable[Finding]:
    """Findings about an incident."""
    body = mapping(evidence.value)
    entries = timeline(body)
    if not entries:
        entries = [((), body)]
    yield from _drains(evidence, body, entries)
    told: set[str] = set()
    candidates: list[tuple[tuple[int, float, int], Path, FailureClass, str]] = []
    for order, (path, entry) in enumerate(entries):
        seen = moment(entry.get("at", entry.get("time")))
        when = seen if seen is not None else float("inf")
        for failure, said, shown in _meanings(entry):
            key = (tier_of(failure, said), when, order)
            candidates.append((key, path, failure, said))
            if shown is not None and shown.words.slug not in told:
                told.add(shown.words.slug)
                yield at(evidence, shown.words, path, said)
    if candidates:
        _, path, failure, said = min(candidates, key=lambda c: c[0])
        words = Words(
            CAUSE.id, CAUSE.slug, CAUSE.severity, f"first cause: {failure.value}", CAUSE.why
        )
        yield at(evidence, words, path, said, where=spell(path) or "incident")


def _meanings(entry: dict[str, Any]) -> Iterable[tuple[FailureClass, str, Shown | None]]:
    """(class, text, line) of what one entry tells; nothing when it names no failure."""
    said = "; ".join(text(entry[key]) for key in _TEXTS if isinstance(entry.get(key), str))
    ending = _structured(entry)
    if ending is not None:
        if ending.failure not in (None, FailureClass.STOPPED_BY_US, FailureClass.UNKNOWN):
            assert ending.failure is not None
            yield ending.failure, said or ending.because, None
        return
    first = first_shown(shown_in_words(said))
    if first is not None and first.failure is not None:
        yield first.failure, said, first


def _structured(entry: dict[str, Any]) -> TaskEnding | None:
    code = text(entry.get("stop_code", entry.get("stopCode")))
    exit_code = integer(entry.get("exit_code", entry.get("exitCode")))
    reason = text(entry.get("stopped_reason", entry.get("stoppedReason")))
    if not code and exit_code is None and not reason:
        return None
    container = text(entry.get("container_reason", entry.get("reason")))
    ours = entry.get("by") in ("controller", "us")
    return classify_task(
        StoppedTask(code, reason, exit_code, (container,) if container else (), ours)
    )


def _drains(
    evidence: Evidence, body: dict[str, Any], entries: list[tuple[Path, dict[str, Any]]]
) -> Iterable[Finding]:
    compute = re.sub(r"[\s_-]", "", text(body.get("compute"))).upper()
    starts = [m for _, e in entries if (m := moment(e.get("at", e.get("time")))) is not None]
    for path, entry in entries:
        said = "; ".join(text(entry[key]) for key in _TEXTS if isinstance(entry.get(key), str))
        when = moment(entry.get("at", entry.get("time")))
        old = when is not None and bool(starts) and when - min(starts) >= MI_DRAIN_HOURS * 3600
        if _DRAIN.search(said) and ("MANAGED" in compute or old):
            yield at(evidence, MI_DRAINED, path, said)
            return
