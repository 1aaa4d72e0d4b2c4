"""Has the attempt failed, and what was the first cause?"""

from __future__ import annotations

from dataclasses import replace

from phalanx import names
from phalanx.reconcile.decision import Decision
from phalanx.reconcile.look import Look
from phalanx.reconcile.restart import has_no_room, restart_or_fail
from phalanx.state.gang import End
from phalanx.state.observed import ObservedTask
from phalanx.state.record import Cause, Seat
from phalanx.verdict.first_cause import first_cause
from phalanx.verdict.hang import hang_cause
from phalanx.words import FailureClass, Outcome, TaskState

HANG_PATIENCE = 3
"""Times the usual wait: a slot that says nothing after a hang counts as frozen and is moved."""

_WORTH_A_WAIT = frozenset(
    {
        FailureClass.NETWORK_FAULT,
        FailureClass.RENDEZVOUS_TIMEOUT,
        FailureClass.UNKNOWN,
        FailureClass.HANG,
    }
)
"""Usually the echo of something elsewhere: worth a short wait for the other slots' endings."""


def failed_attempt(look: Look) -> Decision | None:
    """A rank, an agent or a host ended badly: find the first cause, then restart or fail."""
    bad_ends = tuple(e for e in look.ends if e.outcome is not Outcome.SUCCEEDED)
    lost = _lost_tasks(look)
    if not bad_ends and not lost:
        return _foreign_world(look)
    cause = _first_cause(look, lost)
    if _may_be_an_echo(look, cause, bad_ends, lost):
        return look.wait(
            "Settling", "a rank ended; waiting for the first cause", look.timing.settle_s / 4
        )
    return restart_or_fail(look, cause, slots_lost(look) | _blamed(look, cause))


def _first_cause(look: Look, lost: tuple[ObservedTask, ...]) -> Cause:
    """A death by itself explains a standstill; without one the standstill is looked into."""
    departed = [e for e in look.ends if e.departing and e.failure is not None]
    if departed:
        first = min(departed, key=lambda e: (e.at_ns, e.slot))
        where = f"ends/{first.slot}.{first.incarnation}"
        failure = first.failure or FailureClass.UNKNOWN
        message = f"slot {first.slot} departs: {first.message}"
        return Cause(failure, message, slot=first.slot, evidence=((where, first.message),))
    cause = first_cause(look.ends, lost)
    if cause.failure is not FailureClass.HANG:
        return cause
    spoken = {e.slot for e in look.ends}
    silent = [s.slot for s in look.record.active if s.slot not in spoken]
    return hang_cause(look.ends, silent) or cause


def _blamed(look: Look, cause: Cause) -> frozenset[int]:
    """A slot that hangs twice running, or whose agent is frozen too, moves to a fresh task."""
    if cause.failure is not FailureClass.HANG or cause.slot is None:
        return frozenset()
    history = look.record.history
    again = bool(history) and (history[-1].cause.failure, history[-1].cause.slot) == (
        cause.failure,
        cause.slot,
    )
    is_frozen = all(e.slot != cause.slot for e in look.ends)
    return frozenset({cause.slot}) if again or is_frozen else frozenset()


def slots_lost(look: Look) -> frozenset[int]:
    """Slots that need a new incarnation when the next attempt opens, also those that were done."""
    departing = frozenset(e.slot for e in look.ends if e.departing)
    return look.buckets.lost_slots | departing


def _lost_tasks(look: Look) -> tuple[ObservedTask, ...]:
    """Seated tasks that ended or vanished, unless their ranks had already succeeded."""
    stopped = [t for t in look.buckets.stopped if t.slot not in look.done_slots]
    vanished = [
        _vanished(look, seat) for seat in look.buckets.vanished if seat.slot not in look.done_slots
    ]
    return tuple(stopped + vanished)


def _vanished(look: Look, seat: Seat) -> ObservedTask:
    record = look.record
    is_unfilled = has_no_room(seat)
    said = "the target no longer knows it" if seat.seen_alive else "it never appeared"
    said = f"task of slot {seat.slot} is gone: {said}"
    if is_unfilled:
        said = f"slot {seat.slot} cannot be filled: {seat.because}"
    return ObservedTask(
        id="",
        token=names.token(record.job, seat.slot, seat.incarnation, seat.tries),
        slot=seat.slot,
        incarnation=seat.incarnation,
        tries=seat.tries,
        state=TaskState.STOPPED,
        failure=FailureClass.CAPACITY_UNAVAILABLE if is_unfilled else FailureClass.HOST_LOST,
        reason=said,
    )


def _may_be_an_echo(
    look: Look, cause: Cause, bad_ends: tuple[End, ...], lost: tuple[ObservedTask, ...]
) -> bool:
    if lost or len(look.ends) == len(look.record.active):
        return False
    in_teardown = all(e.finished for e in bad_ends)
    if cause.failure not in _WORTH_A_WAIT and not in_teardown:
        return False
    newest_ns = max(e.at_ns for e in bad_ends)
    patience = HANG_PATIENCE if cause.failure is FailureClass.HANG else 1
    return look.age_s(newest_ns) < look.timing.settle_s * patience


def _foreign_world(look: Look) -> Decision | None:
    """A stale freezer froze a world with an incarnation that has lost its seat."""
    record, world = look.record, look.observed.world
    if world is None or world.attempt != record.attempt:
        return None
    if all(world.has(s.slot, s.incarnation) for s in record.active):
        return None
    cause = Cause(FailureClass.SUPERSEDED, "the world names an incarnation without a seat")
    return restart_or_fail(replace(look), cause, slots_lost(look))
