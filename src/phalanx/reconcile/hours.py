"""Instance time: what every incarnation has used, from its first sight to the loss of its seat.

It is kept in the record, by the store's clock, so that it outlives every controller. The ledger
says the same more finely and after the fact.
"""

from __future__ import annotations

from dataclasses import replace

from phalanx.clock import SECOND_NS
from phalanx.reconcile.decision import Decision, Event
from phalanx.reconcile.look import Look
from phalanx.state.record import Cause, Record, Seat
from phalanx.words import FailureClass, Phase

NEARLY = 0.9
"""Share of a limit at which somebody is told that it is nearly reached."""


def used_ns(record: Record, now_ns: int) -> int:
    """Instance time of all incarnations so far, also of those that live."""
    lives = (now_ns - s.alive_ns for s in record.seats if s.alive_ns is not None)
    return record.instance_ns + sum(max(0, life) for life in lives)


def booked(look: Look, decision: Decision) -> Decision:
    """The decision with the lives that begin and end by it written down."""
    before, after = look.record, decision.record
    is_over = after.phase.is_terminal or after.phase is Phase.PAUSED
    if after is before or (before.seats == after.seats and not is_over):
        return decision
    known = {_token(seat): seat for seat in before.seats}
    kept = set() if is_over else {_token(seat) for seat in after.seats}
    gone = [s.alive_ns for t, s in known.items() if t not in kept and s.alive_ns is not None]
    seats = tuple(
        replace(seat, alive_ns=None if is_over else _alive_ns(look, seat, known.get(_token(seat))))
        for seat in after.seats
    )
    spent_ns = sum(max(0, look.now_ns - alive_ns) for alive_ns in gone)
    if not spent_ns and seats == after.seats:
        return decision
    record = replace(after, seats=seats, instance_ns=after.instance_ns + spent_ns)
    return replace(decision, record=record)


def max_instance_hours(look: Look) -> Decision | None:
    """The most that a job may use, over all its incarnations."""
    record, limit_h = look.record, look.record.plan.max_instance_hours
    if limit_h is None or used_ns(record, look.now_ns) < limit_h * 3600 * SECOND_NS:
        return None
    said = f"used up max_instance_hours ({limit_h:g} h over all tasks)"
    cause = Cause(FailureClass.STOPPED_BY_US, said)
    record = replace(record, cause=cause, last_save=True)
    return look.end_job(Phase.FAILED, record, "MaxInstanceHours", said)


def limit_near(look: Look) -> Decision | None:
    """Say once for each limit that it is nearly reached."""
    record = look.record
    for name, used_s, limit_s in _limits(look):
        if limit_s is None or name in record.warned or used_s < NEARLY * limit_s:
            continue
        said = f"{100 * used_s / limit_s:.0f} % of {name} is used: the job ends when all of it is"
        told = replace(record, warned=(*record.warned, name), warning=said)
        event = Event("LimitNear", said)
        return Decision(told, record.reason, record.message, (), (event,), recheck_after_s=0.0)
    return None


def ran_s(look: Look) -> float:
    """Age of the job without its rests."""
    return look.age_s(look.record.created_ns) - look.record.paused_ns / SECOND_NS


def _limits(look: Look) -> tuple[tuple[str, float, float | None], ...]:
    plan = look.record.plan
    hours = plan.max_instance_hours
    used_s = used_ns(look.record, look.now_ns) / SECOND_NS
    return (
        ("max_runtime", ran_s(look), plan.max_runtime_s),
        ("max_instance_hours", used_s, None if hours is None else hours * 3600),
    )


def _token(seat: Seat) -> tuple[int, int, int]:
    return seat.slot, seat.incarnation, seat.tries


def _alive_ns(look: Look, seat: Seat, before: Seat | None) -> int | None:
    """A new incarnation has no first sight of its own yet."""
    if not seat.seen_alive or before is None:
        return None
    return seat.alive_ns if before.seen_alive else look.now_ns
