"""Give every seat its task: save the intent first, then ask; ask again while nobody is seen."""

from __future__ import annotations

from dataclasses import replace

from phalanx.reconcile.decision import Decision, Launch, Stop
from phalanx.reconcile.ending import STOP_MARGIN_S
from phalanx.reconcile.look import Look
from phalanx.state.record import Seat
from phalanx.words import Phase


def note_alive(look: Look) -> Decision | None:
    """Remember which seats have been seen alive: from then on absence means loss."""
    record = look.record
    tasks = (*look.buckets.starting, *look.buckets.running, *look.buckets.standby)
    alive = {t.slot for t in tasks if t.is_alive}
    fresh = {s.slot for s in record.seats if s.slot in alive and not s.seen_alive}
    if not fresh:
        return None
    seats = tuple(_seen(s) if s.slot in fresh else s for s in record.seats)
    decision = look.wait(record.reason, record.message, 0.0)
    return replace(decision, record=replace(decision.record, seats=seats))


def _seen(seat: Seat) -> Seat:
    """Why an earlier launch came to nothing no longer matters, unless it was given up for that."""
    because = seat.because if seat.parked else ""
    return replace(seat, seen_alive=True, because=because, refused=False)


def wait_for_strays(look: Look) -> Decision | None:
    """A slot is not filled again before its old task has ended.

    A host that hears no stop is not waited for without end: by then its task has stopped itself
    or can commit nothing, since its attempt is over.
    """
    held = {t.slot for t in look.buckets.stray} & {s.slot for s in look.buckets.missing}
    if not held or look.age_s(look.record.attempt_opened_ns) > _stray_patience_s(look):
        return None
    words = ", ".join(str(slot) for slot in sorted(held))
    return look.wait("StoppingOld", f"ending the old task of slot {words}", 0.1)


def stop_strays(look: Look, decision: Decision) -> Decision:
    """Whatever is decided, a task without a seat is told to end: it never ends the pass."""
    told = {a.task.id for a in decision.actions if isinstance(a, Stop)}
    stops = tuple(
        Stop(t, "superseded by a newer incarnation", 0.0)
        for t in look.buckets.stray
        if t.id not in told
    )
    if not stops:
        return decision
    recheck_s = min(decision.recheck_after_s, look.timing.recheck_s)
    actions = (*stops, *decision.actions)
    return replace(decision, actions=actions, recheck_after_s=recheck_s)


def _stray_patience_s(look: Look) -> float:
    plan = look.record.plan
    return plan.isolation_s + plan.stop_grace_s + STOP_MARGIN_S


def launch_missing(look: Look) -> Decision | None:
    """Launch all seats that have no task."""
    return _launch(look)


def _launch(look: Look) -> Decision | None:
    record, missing = look.record, look.buckets.missing
    if missing:
        asked = {s.slot: replace(s, launched_ns=look.now_ns) for s in missing}
        seats = tuple(asked.get(s.slot, s) for s in record.seats)
        phase = Phase.STARTING if record.attempt == 0 else Phase.RESTARTING
        record = replace(record, seats=seats, phase=phase)
        words = _slots(tuple(asked.values()))
        return look.change(
            record, "Launching", f"starting {words}", actions=tuple(map(Launch, asked.values()))
        )
    hidden = look.buckets.hidden
    if not hidden:
        return None
    retry_s = look.timing.launch_retry_s
    due = [s for s in hidden if s.launched_ns is not None and look.age_s(s.launched_ns) >= retry_s]
    decision = look.wait("Launching", f"waiting for {_slots(hidden)} to appear", retry_s / 2)
    return replace(decision, actions=tuple(map(Launch, due)))


def _slots(seats: tuple[Seat, ...]) -> str:
    words = ", ".join(str(s.slot) for s in sorted(seats, key=lambda s: s.slot))
    return f"slot {words}" if len(seats) == 1 else f"slots {words}"
