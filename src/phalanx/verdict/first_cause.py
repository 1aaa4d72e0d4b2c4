"""Which ending was the first one: the cause, and not what it led to.

Kind goes before time: what ends a rank by itself (a signal, memory, a device, a lost task) comes
before a bare exit code, that before waiting in vain, that before collective and connection errors,
which mostly tell of somebody else's death. Only then does time decide, and two endings of one kind
that lie closer than the clocks can tell are both named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from phalanx.state.gang import End, RankEnd
from phalanx.state.observed import ObservedTask
from phalanx.state.record import Cause
from phalanx.verdict.ranks import (
    SECONDARY,
    classify_rank,
    last_words,
    signal_name,
    signal_of,
)
from phalanx.words import FailureClass, Outcome

UNCERTAINTY_NS = 50_000_000
"""How far the store's stamps of two hosts may be apart for events that happened at once."""

OWN = frozenset({FailureClass.STOPPED_BY_US, FailureClass.SUPERSEDED})
"""Endings that we asked for: never a cause."""

_WAITED = frozenset({FailureClass.HANG, FailureClass.START_TIMEOUT, FailureClass.NO_PROGRESS})
"""What an agent names when nothing happens: the reason may be somebody else's death."""

_LOST_HOST = re.compile(
    r"\b(?:host|instance|node|machine)\b.*\b(?:lost|gone|terminat\w*|stopped|unreachable|rebooted)\b",
    re.IGNORECASE,
)

_STRONG, _BARE, _WAITING, _SECONDARY = range(4)


@dataclass(frozen=True)
class Candidate:
    """One ending that may be the first cause."""

    tier: int
    at_ns: int | None
    """Estimated store time; None when nobody saw the moment."""
    order: int
    slot: int
    incarnation: int
    rank: int | None
    failure: FailureClass
    text: str
    """What happened, without a subject: `was killed by SIGKILL`."""
    where: str
    says: str

    def key(self) -> tuple[object, ...]:
        """Total order: kind, then moment (an unseen one first), then place."""
        at = -1 if self.at_ns is None else self.at_ns
        rank = -1 if self.rank is None else self.rank
        return (self.tier, at, self.slot, self.incarnation, self.order, rank, self.text, self.says)

    def subject(self) -> str:
        """`rank 3 (slot 1)` or `the task of slot 1`."""
        if self.rank is None:
            return f"the task of slot {self.slot}"
        return f"rank {self.rank} (slot {self.slot})"


def first_cause(
    ends: tuple[End, ...],
    tasks: tuple[ObservedTask, ...] = (),
    uncertainty_ns: int = UNCERTAINTY_NS,
) -> Cause:
    """The first cause of an attempt's end.

    `tasks` are the target's tasks of the seats that took part; a seat whose tasks are all stopped
    and that has no `End` counts as lost (a caller that misses a task altogether passes it as
    stopped). Agents that were told to stop are asked for a reason only when nothing else has one.
    The order of the arguments' items does not matter. When nothing tells why: `Unknown`.
    """
    found = {*_of_ends(ends, Outcome.FAILED), *_of_tasks(ends, tasks)}
    candidates = sorted(found or set(_of_ends(ends, Outcome.STOPPED)), key=Candidate.key)
    if not candidates:
        return Cause(FailureClass.UNKNOWN, "the attempt ended and no ending says why")
    first = _first(candidates)
    near = [c for c in candidates if c is not first and _as_early(c, first, uncertainty_ns)]
    early = _left_early(ends, first, uncertainty_ns)
    return Cause(
        failure=first.failure,
        message=_sentence(first, near, early),
        slot=first.slot,
        rank=first.rank,
        also=tuple(sorted({c.rank for c in near if c.rank is not None} - {first.rank})),
        evidence=_evidence(first, near, early),
    )


def _first(candidates: list[Candidate]) -> Candidate:
    """The earliest of the strongest kind; inside one agent its own order of seeing decides."""
    best = candidates[0]
    for other in candidates[1:]:
        same_agent = (other.slot, other.incarnation) == (best.slot, best.incarnation)
        if same_agent and other.tier == best.tier and other.order < best.order:
            best = other
    return best


def _as_early(other: Candidate, first: Candidate, uncertainty_ns: int) -> bool:
    """Whether nobody can tell which of two endings of one kind was earlier."""
    if other.tier != first.tier:
        return False
    if (other.slot, other.incarnation) == (first.slot, first.incarnation):
        return False  # one agent saw both, in order
    if first.tier == _SECONDARY:
        return False  # they follow from one another; naming all of them says nothing
    if other.at_ns is None or first.at_ns is None:
        return True
    return abs(other.at_ns - first.at_ns) <= uncertainty_ns


def _of_ends(ends: Iterable[End], outcome: Outcome) -> Iterable[Candidate]:
    for end in ends:
        if end.outcome is not outcome:
            continue
        if end.failure is None:
            yield from (_of_rank(end, rank) for rank in end.ranks if _counts(rank))
        elif end.failure not in OWN:
            yield _of_agent(end, end.failure)


def _counts(rank: RankEnd) -> bool:
    if rank.told_to_stop:
        return False
    failure = classify_rank(rank)
    return failure is not None and failure not in OWN


def _of_agent(end: End, failure: FailureClass) -> Candidate:
    """The agent itself named the cause; the rank that showed it first is named with it."""
    shown = sorted((r for r in end.ranks if _counts(r)), key=lambda r: (r.order, r.rank, r.error))
    rank = shown[0] if shown else None
    says = end.message or (last_words(rank.error) if rank else "") or failure.value
    return Candidate(
        tier=tier_of(failure, says),
        at_ns=_moment(end, rank.after_ns if rank else _earliest(end)),
        order=rank.order if rank else 0,
        slot=end.slot,
        incarnation=end.incarnation,
        rank=rank.rank if rank else None,
        failure=failure,
        text=f"ended with {failure.value}",
        where=_place(end.slot, end.incarnation, rank.rank if rank else None),
        says=says,
    )


def _of_rank(end: End, rank: RankEnd) -> Candidate:
    failure = classify_rank(rank) or FailureClass.UNKNOWN
    if failure is FailureClass.BAD_COMMAND and end.step > 0:
        failure = FailureClass.NON_ZERO_EXIT  # the same command has worked before
    says = last_words(rank.error)
    return Candidate(
        tier=tier_of(failure, says),
        at_ns=_moment(end, rank.after_ns),
        order=rank.order,
        slot=end.slot,
        incarnation=end.incarnation,
        rank=rank.rank,
        failure=failure,
        text=_how(rank, failure),
        where=_place(end.slot, end.incarnation, rank.rank),
        says=says or _how(rank, failure),
    )


def _of_tasks(ends: Iterable[End], tasks: Iterable[ObservedTask]) -> Iterable[Candidate]:
    """Tasks that stopped without a word of their agent."""
    tasks = tuple(tasks)
    spoken = {(end.slot, end.incarnation) for end in ends}
    spoken |= {(task.slot, task.incarnation) for task in tasks if task.is_alive}
    for task in tasks:
        if (task.slot, task.incarnation) in spoken or task.failure in OWN:
            continue
        failure = task.failure or _unnamed(task)
        gone = "the agent is gone without an ending"
        says = last_words(task.reason) or gone
        if task.exit_code is not None:
            says = f"{says}; exit code {task.exit_code}"
        yield Candidate(
            tier=tier_of(failure, says),
            at_ns=None,
            order=0,
            slot=task.slot,
            incarnation=task.incarnation,
            rank=None,
            failure=failure,
            text=gone if failure is FailureClass.KILLED else f"was lost ({failure.value})",
            where=f"task {task.id}",
            says=says,
        )


def _unnamed(task: ObservedTask) -> FailureClass:
    """The class of a lost task for which the target has none."""
    return FailureClass.HOST_LOST if _LOST_HOST.search(task.reason) else FailureClass.KILLED


def tier_of(failure: FailureClass, says: str = "") -> int:
    """Strength of a kind, 0 strongest: by itself, bare exit code, waiting, connection errors.

    `says` is the text that came with it; an exit code without one is a bare exit code.
    """
    if failure in SECONDARY:
        return _SECONDARY
    if failure in _WAITED:
        return _WAITING
    bare = failure is FailureClass.UNKNOWN or (failure is FailureClass.NON_ZERO_EXIT and not says)
    return _BARE if bare else _STRONG


def _moment(end: End, after_ns: int) -> int:
    """Store time of an age on the agent's clock: the end is written when its last rank is gone."""
    last = max((rank.after_ns for rank in end.ranks), default=after_ns)
    return end.at_ns - (last - after_ns)


def _earliest(end: End) -> int:
    return min((rank.after_ns for rank in end.ranks), default=0)


def _left_early(ends: Iterable[End], first: Candidate, uncertainty_ns: int) -> list[Candidate]:
    """Ranks that exited 0 before others failed with nothing but connection errors."""
    if first.tier != _SECONDARY:
        return []
    found = []
    for end in ends:
        for rank in end.ranks:
            if rank.exit_code != 0 or rank.told_to_stop or rank.signal:
                continue
            moment = _moment(end, rank.after_ns)
            same = (end.slot, end.incarnation) == (first.slot, first.incarnation)
            before = (
                rank.order < first.order
                if same
                else first.at_ns is None or moment <= first.at_ns + uncertainty_ns
            )
            if before:
                found.append(_departed(end, rank, moment))
    return sorted(found, key=Candidate.key)


def _departed(end: End, rank: RankEnd, moment: int) -> Candidate:
    text = "exited 0 while others were still training"
    where = _place(end.slot, end.incarnation, rank.rank)
    return Candidate(
        _SECONDARY,
        moment,
        rank.order,
        end.slot,
        end.incarnation,
        rank.rank,
        FailureClass.UNKNOWN,
        text,
        where,
        text,
    )


def _how(rank: RankEnd, failure: FailureClass) -> str:
    """`was killed by SIGKILL`, `exited 1`, with the class where that says more."""
    signal = signal_of(rank.exit_code, rank.signal)
    if signal is not None:
        how = f"was killed by {signal_name(signal)}"
    elif rank.exit_code is None:
        how = "ended in an unknown way"
    else:
        how = f"exited {rank.exit_code}"
    plain = (FailureClass.KILLED, FailureClass.NON_ZERO_EXIT, FailureClass.UNKNOWN)
    return how if failure in plain else f"{how} ({failure.value})"


def _sentence(first: Candidate, near: list[Candidate], early: list[Candidate]) -> str:
    text = f"{first.subject()} {first.text}"
    if first.rank is None and first.text.startswith("the agent"):
        text = f"{first.subject()}: {first.text}"
    if first.says and first.says not in first.text:
        text = f"{text}: {first.says}"
    if near:
        names = ", ".join(dict.fromkeys(c.subject() for c in near))
        text = f"{text}; {names} ended too close to it to say which was first"
    if early:
        rank = early[0].rank
        text = f"rank {rank} exited 0 while others were still training; then {text}"
    return text


def _evidence(
    first: Candidate, near: list[Candidate], early: list[Candidate]
) -> tuple[tuple[str, str], ...]:
    pairs = [
        (c.where, f"{c.text}: {c.says}" if c.says not in c.text else c.text)
        for c in (*early, first, *near)
    ]
    return tuple(dict.fromkeys(pairs))


def _place(slot: int, incarnation: int, rank: int | None) -> str:
    place = f"ends/{slot}.{incarnation}"
    return place if rank is None else f"{place} rank {rank}"
