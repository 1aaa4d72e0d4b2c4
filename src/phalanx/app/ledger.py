"""The ledger: where every instance-nanosecond of a job went, in integers that sum exactly.

Pure. Each incarnation is walked once along the store's clock, from its start to its end, and
every nanosecond on the way gets exactly one label, so the labels sum to `instance_ns` whatever the
entries say: durations that do not fit into their span are cut, what nobody measured is said.

A step is useful once nothing can take it back: a committed checkpoint covers it, or the job
succeeded. Steps of an attempt beyond the checkpoint that a later attempt restored were lost.

All ranks of a gang wait for the slowest: when a rank was slow, what it needed beyond the others'
median is taken off the useful time of every slot and told as degraded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from phalanx.app.slow import slow_over
from phalanx.state.gang import LedgerEntry, World
from phalanx.state.record import Record
from phalanx.verdict.stragglers import Straggler
from phalanx.words import Phase

LABELS = (
    "useful",
    "recomputed",
    "checkpoint",
    "restart",
    "waiting",
    "degraded",
    "idle",
    "pending",
    "unknown",
)
"""Every label, in the order in which people read them."""


@dataclass(frozen=True)
class Live:
    """What a beat said of an entry that is not written (yet): its values at `seen_ns`.

    `entry` is None when the beat carried none, so that only the life sign counts.
    """

    slot: int
    incarnation: int
    attempt: int
    seen_ns: int
    entry: LedgerEntry | None = None


@dataclass(frozen=True)
class Facts:
    """All that the ledger is computed from."""

    record: Record
    entries: tuple[LedgerEntry, ...] = ()
    lives: tuple[Live, ...] = ()
    """Beats of incarnations that left no entry for their attempt."""
    worlds: tuple[World, ...] = ()
    head_step: int = 0
    """Step of the newest committed checkpoint; 0 when there is none."""
    now_ns: int = 0
    """Store clock of the look."""


@dataclass(frozen=True)
class Ledger:
    """Labelled instance time. `sum(labels.values()) == instance_ns`, always."""

    wall_ns: int
    instance_ns: int
    labels: Mapping[str, int]
    user: float | None
    """Useful time over slots x (submission to end)."""
    capacity: float | None
    """Useful time over slots x (time in which every slot had an incarnation)."""
    paid: float | None
    """Useful time over `instance_ns`."""
    slow: tuple[tuple[int, Straggler], ...] = ()
    """(attempt, the slow rank that held it up)."""


@dataclass(frozen=True)
class _Span:
    """One incarnation in one attempt, on the store's clock."""

    attempt: int
    born_ns: int
    start_ns: int
    end_ns: int
    entry: LedgerEntry | None
    rest: str
    """Label of what the entry does not explain."""
    slow: Straggler | None
    """The rank that held this attempt up."""
    tail_ns: int = 0
    """Until then the incarnation lived on without a word; labelled `tail`."""
    tail: str = "unknown"


@dataclass
class _Tally:
    """Labels of one incarnation, and the walk along its life."""

    cursor_ns: int
    labels: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LABELS, 0))

    def until(self, at_ns: int, label: str) -> None:
        """Everything from here to `at_ns` gets one label; going back is ignored."""
        if at_ns > self.cursor_ns:
            self.labels[label] += at_ns - self.cursor_ns
            self.cursor_ns = at_ns


def compute(facts: Facts) -> Ledger:
    """The ledger of one job."""
    covers = _covers(facts)
    slow = _slow(facts)
    labels = dict.fromkeys(LABELS, 0)
    lives: dict[int, list[tuple[int, int]]] = {}
    instance_ns = 0
    for (slot, _), spans in sorted(_spans(facts, slow).items()):
        start_ns = spans[0].born_ns
        tally = _Tally(start_ns)
        for span in spans:
            _walk(tally, span, covers.get(span.attempt, facts.head_step), facts.record)
        for label, value in tally.labels.items():
            labels[label] += value
        instance_ns += tally.cursor_ns - start_ns
        lives.setdefault(slot, []).append((start_ns, tally.cursor_ns))
    whole_ns = _whole_ns(lives, facts.record.plan.nodes)
    ledger = _ledger(facts, labels, instance_ns, whole_ns)
    return replace(ledger, slow=tuple(sorted(slow.items())))


def _slow(facts: Facts) -> dict[int, Straggler]:
    """The slow rank of each attempt that had one."""
    told: dict[tuple[int, int, int], LedgerEntry] = {}
    for entry in (*(life.entry for life in facts.lives), *facts.entries):
        if entry is not None:
            told[entry.attempt, entry.slot, entry.incarnation] = entry
    attempts = {entry.attempt for entry in told.values()}
    found = {a: slow_over(e for e in told.values() if e.attempt == a) for a in attempts}
    return {attempt: slow for attempt, slow in found.items() if slow is not None}


def _ledger(facts: Facts, labels: dict[str, int], instance_ns: int, whole_ns: int) -> Ledger:
    record = facts.record
    nodes = record.plan.nodes
    wall_ns = max(0, (record.ended_ns or facts.now_ns) - record.created_ns)
    useful = labels["useful"]
    return Ledger(
        wall_ns=wall_ns,
        instance_ns=instance_ns,
        labels=labels,
        user=_ratio(useful, nodes * wall_ns),
        capacity=_ratio(useful, nodes * whole_ns),
        paid=_ratio(useful, instance_ns),
    )


def _ratio(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole > 0 else None


def _covers(facts: Facts) -> dict[int, int]:
    """Per attempt: the step up to which its work can no longer be lost.

    Work of an attempt survives up to the lowest checkpoint that any later attempt restored, and
    for the last attempt up to HEAD, or without limit when the job succeeded.
    """
    restored = {world.attempt: world.checkpoint_step for world in facts.worlds}
    succeeded = facts.record.phase is Phase.SUCCEEDED
    cover = _NO_LIMIT if succeeded else facts.head_step
    covers: dict[int, int] = {}
    for attempt in range(facts.record.attempt, -1, -1):
        covers[attempt] = cover
        if attempt in restored:
            cover = min(cover, restored[attempt])
    return covers


_NO_LIMIT = 1 << 62


def _spans(facts: Facts, slow: Mapping[int, Straggler]) -> dict[tuple[int, int], list[_Span]]:
    """Spans of each (slot, incarnation), by attempt. An entry hides beats of its attempt."""
    found: dict[tuple[int, int, int], _Span] = {}
    worlds = {world.attempt: world for world in facts.worlds}
    for life in facts.lives:
        found[life.slot, life.incarnation, life.attempt] = _live_span(
            facts, life, slow.get(life.attempt)
        )
    for entry in facts.entries:
        found[entry.slot, entry.incarnation, entry.attempt] = _closed_span(
            facts, entry, slow.get(entry.attempt)
        )
    spans: dict[tuple[int, int], list[_Span]] = {}
    for (slot, incarnation, attempt), span in sorted(found.items()):
        world = worlds.get(attempt)
        if world is not None and world.members and not world.has(slot, incarnation):
            # A standby of an elastic job: ready, and not yet needed.
            span = replace(span, entry=None, rest="waiting", tail="waiting")
        spans.setdefault((slot, incarnation), []).append(span)
    return spans


def _closed_span(facts: Facts, entry: LedgerEntry, slow: Straggler | None) -> _Span:
    """An entry that its agent wrote: what it leaves open is detection and stopping, or the end."""
    last = entry.attempt >= facts.record.attempt
    terminal = facts.record.phase.is_terminal
    rest = "restart" if not last else "idle" if terminal else "pending"
    return _Span(
        attempt=entry.attempt,
        born_ns=_born(entry),
        start_ns=entry.start_ns,
        end_ns=entry.end_ns or entry.start_ns + entry.total_ns,
        entry=entry,
        rest=rest,
        slow=slow,
    )


def _live_span(facts: Facts, life: Live, slow: Straggler | None) -> _Span:
    """A beat without an entry: alive until now, or killed before its attempt was closed."""
    record = facts.record
    opened_ns = _opened_ns(record, life.attempt)
    closed_ns = _closed_ns(record, life.attempt)
    seated = any((s.slot, s.incarnation) == (life.slot, life.incarnation) for s in record.seats)
    alive = closed_ns is None and seated
    entry = life.entry
    return _Span(
        attempt=life.attempt,
        born_ns=_born(entry) if entry else opened_ns,
        start_ns=entry.start_ns if entry else opened_ns,
        end_ns=life.seen_ns,
        entry=entry,
        rest="pending" if alive else "unknown",
        slow=slow,
        tail_ns=facts.now_ns if alive else max(life.seen_ns, closed_ns or 0),
        tail="pending" if alive else "unknown",
    )


def _born(entry: LedgerEntry) -> int:
    return min(entry.born_ns or entry.start_ns, entry.start_ns)


def _opened_ns(record: Record, attempt: int) -> int:
    """When an attempt was opened: when the one before it ended, else when the job was made."""
    if attempt == record.attempt and record.attempt_opened_ns:
        return record.attempt_opened_ns
    before = [past.ended_ns for past in record.history if past.attempt == attempt - 1]
    return before[0] if before else record.created_ns


def _closed_ns(record: Record, attempt: int) -> int | None:
    """When an attempt ended; None while it is open."""
    for past in record.history:
        if past.attempt == attempt:
            return past.ended_ns
    return record.ended_ns if record.phase.is_terminal else None


def _walk(tally: _Tally, span: _Span, cover: int, record: Record) -> None:
    """Label one span: the gap before it, its measured parts, the rest, and its silent tail."""
    tally.until(span.start_ns, "restart")
    begun = tally.cursor_ns
    if span.entry is not None:
        lost = "recomputed" if _is_lost(record, span.attempt) else "pending"
        for label, duration in _parts(span.entry, cover, lost, span.slow):
            tally.until(min(tally.cursor_ns + duration, max(span.end_ns, begun)), label)
    tally.until(span.end_ns, span.rest)
    tally.until(span.tail_ns, span.tail)


def _is_lost(record: Record, attempt: int) -> bool:
    """Whether uncovered work of an attempt can no longer be saved by a commit of its own."""
    return attempt < record.attempt or record.phase.is_terminal


def _parts(
    entry: LedgerEntry, cover: int, lost: str, slow: Straggler | None
) -> Iterable[tuple[str, int]]:
    """Measured durations with their labels; the split of step time is proportional to steps.

    Useful time comes last: when an entry claims more than its span holds, that is what is cut.
    """
    train_ns = max(0, entry.train_ns)
    steps = entry.last_step - entry.first_step
    kept = min(max(cover - entry.first_step, 0), max(steps, 0))
    useful_ns = train_ns * kept // steps if steps > 0 else 0
    yield "checkpoint", max(0, entry.stall_ns)
    yield "restart", max(0, entry.restart_ns)
    yield "idle", max(0, entry.idle_ns)
    yield lost, train_ns - useful_ns
    degraded_ns = min(useful_ns, slow.excess_ns * min(kept, slow.steps)) if slow else 0
    yield "degraded", degraded_ns
    yield "useful", useful_ns - degraded_ns


def _whole_ns(lives: Mapping[int, list[tuple[int, int]]], nodes: int) -> int:
    """Time in which every slot had an incarnation."""
    if len(lives) < nodes:
        return 0
    edges: list[tuple[int, int]] = []
    for spans in lives.values():
        for start, end in _merged(spans):
            edges += [(start, 1), (end, -1)]
    whole = alive = since = 0
    for at, change in sorted(edges, key=lambda edge: (edge[0], -edge[1])):
        if alive == nodes:
            whole += at - since
        alive += change
        since = at
    return whole


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Overlapping spans of one slot as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
