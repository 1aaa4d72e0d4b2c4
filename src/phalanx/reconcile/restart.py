"""Which rule applies, is there budget, and how the next attempt is opened."""

from __future__ import annotations

from dataclasses import replace

from phalanx.clock import SECOND_NS
from phalanx.plan.job import RestartRule
from phalanx.reconcile import seating
from phalanx.reconcile.decision import Decision
from phalanx.reconcile.look import Look
from phalanx.state.record import Cause, PastAttempt, Record, Seat
from phalanx.words import FailureClass, Phase

BACKOFF_MAX_S = 60.0
_FALLBACK = RestartRule(on=(), do="restart", limit=3)


def restart_or_fail(look: Look, cause: Cause, lost: frozenset[int]) -> Decision:
    """Apply the first matching rule: fail, wait a little, or open the next attempt."""
    record = look.record
    rule = match(record.plan.restart, cause.failure)
    fruitless = _fruitless(look)
    refusal = _refusal(record, rule, cause, fruitless)
    if refusal is not None:
        reason, message = refusal
        ended = _remember(look, record, cause, counted=rule.counted)
        return look.end_job(Phase.FAILED, replace(ended, cause=cause), reason, message)
    delay_s = backoff_s(fruitless)
    if delay_s and record.backoff_until_ns is None:
        until = look.now_ns + int(delay_s * SECOND_NS)
        record = replace(record, phase=Phase.RESTARTING, backoff_until_ns=until)
        message = f"{cause.message}; trying again in {delay_s:g} s"
        return replace(look.change(record, "BackingOff", message), recheck_after_s=delay_s)
    if record.backoff_until_ns is not None and look.now_ns < record.backoff_until_ns:
        left_s = (record.backoff_until_ns - look.now_ns) / SECOND_NS
        return look.wait(record.reason, record.message, left_s)
    opened = open_attempt(look, cause, rule, lost, fruitless)
    start = opened.head_at_open or "the beginning"
    message = f"{cause.message}; attempt {opened.attempt} goes on from {start}"
    return look.change(opened, cause.failure.value, message)


def match(rules: tuple[RestartRule, ...], failure: FailureClass) -> RestartRule:
    """First rule that names the class; an unnamed class restarts three times."""
    return next((rule for rule in rules if failure in rule.on), _FALLBACK)


def backoff_s(fruitless: int) -> float:
    """Seconds before the next attempt: none while there is progress, then 1, 2, 4 ... 60."""
    if fruitless < 2:
        return 0.0
    return min(BACKOFF_MAX_S, float(2 ** (fruitless - 2)))


def open_attempt(
    look: Look, cause: Cause, rule: RestartRule, lost: frozenset[int], fruitless: int
) -> Record:
    """Attempt + 1: lost slots get a new incarnation, survivors keep their seat."""
    record = look.record
    head = look.observed.head
    seats = seating.on_loss(look, lost, cause.message)
    record = _remember(look, record, cause, counted=rule.counted)
    return replace(
        record,
        resized_ns=seating.sized(look, record, seats),
        quorum_ns=None,
        growing=None,
        phase=Phase.RESTARTING,
        attempt=record.attempt + 1,
        attempt_opened_ns=look.now_ns,
        waiting_since_ns=_waiting_since(look),
        seats=seats,
        counted=record.counted + int(rule.counted),
        uncounted=record.uncounted + int(not rule.counted),
        spent=_spend(record, cause.failure),
        fruitless=fruitless,
        head_at_open=head.checkpoint if head is not None else None,
        backoff_until_ns=None,
    )


def _waiting_since(look: Look) -> int | None:
    """Attempts that never came together do not start the waiting anew."""
    return look.now_ns if look.observed.world is not None else look.record.waiting_since_ns


def open_resized(look: Look, change: seating.Change, because: str, said: str) -> Decision:
    """Attempt + 1 with another set of nodes: no failure, so no rule, no budget and no back-off."""
    old, head = look.record, look.observed.head
    seats = seating.arranged(look, change, because)
    size, start = sum(not seat.parked for seat in seats), head.checkpoint if head else None
    message = f"{said}: going on with {size} of {old.plan.nodes} nodes"
    cause = Cause(FailureClass.RESIZED, message)
    record = _remember(look, old, cause, counted=False)
    opened = replace(
        record,
        phase=Phase.RESTARTING,
        attempt=old.attempt + 1,
        attempt_opened_ns=look.now_ns,
        waiting_since_ns=_waiting_since(look),
        seats=seats,
        uncounted=old.uncounted + 1,
        fruitless=old.fruitless if start == old.head_at_open else 0,
        head_at_open=start,
        backoff_until_ns=None,
        resized_ns=seating.sized(look, old, seats),
        quorum_ns=None,
        growing=None,
    )
    return look.change(opened, FailureClass.RESIZED.value, message)


def _remember(look: Look, record: Record, cause: Cause, *, counted: bool) -> Record:
    head = look.observed.head
    past = PastAttempt(
        attempt=record.attempt,
        ended_ns=look.now_ns,
        cause=cause,
        counted=counted,
        resumed_from=head.checkpoint if head is not None else None,
    )
    unreadable = record.unreadable
    if cause.failure is FailureClass.CHECKPOINT_UNREADABLE:
        named = {e.checkpoint for e in look.ends if e.checkpoint is not None}
        unreadable = tuple(dict.fromkeys((*unreadable, *sorted(named))))
    return replace(record, history=(*record.history, past), unreadable=unreadable)


def _spend(record: Record, failure: FailureClass) -> tuple[tuple[str, int], ...]:
    spent = dict(record.spent)
    spent[failure.value] = spent.get(failure.value, 0) + 1
    return tuple(sorted(spent.items()))


def _fruitless(look: Look) -> int:
    """Attempts in a row without a newer committed step, this one included.

    One that only found no room was none: `max_waiting` is the limit of that.
    """
    head = look.observed.head
    now = head.checkpoint if head is not None else None
    if now != look.record.head_at_open:
        return 0
    vanished = look.buckets.vanished
    only_waited = bool(vanished) and all(map(has_no_room, vanished)) and not look.ends
    if only_waited and not look.buckets.stopped and look.observed.world is None:
        return look.record.fruitless
    return look.record.fruitless + 1


def has_no_room(seat: Seat) -> bool:
    """Whether the target said of a launch that nothing has room for it."""
    return bool(seat.because) and not seat.seen_alive


def _refusal(
    record: Record, rule: RestartRule, cause: Cause, fruitless: int
) -> tuple[str, str] | None:
    if rule.do == "fail":
        return cause.failure.value, f"{cause.message}; the restart rules say fail"
    spent = sum(
        n for name, n in record.spent if FailureClass(name) in (rule.on or (cause.failure,))
    )
    if rule.limit is not None and spent >= rule.limit:
        return cause.failure.value, f"{cause.message}; its {rule.limit} restarts are used up"
    if fruitless >= record.plan.no_progress:
        said = f"{fruitless} attempts in a row committed nothing new; last: {cause.message}"
        return FailureClass.NO_PROGRESS.value, said
    return None
