"""A pause: all ranks save one step, the tasks are released, and a resume goes on from there.

While a job rests its `ending` stays Paused, so that nothing is launched and whatever still lives
leaves; a stop takes precedence over it.
"""

from __future__ import annotations

from dataclasses import replace

from phalanx.reconcile import ending, success
from phalanx.reconcile.decision import Decision
from phalanx.reconcile.look import Look
from phalanx.state.record import Cause, PastAttempt, Record, Seat
from phalanx.words import FailureClass, Phase


def asked(look: Look) -> Decision | None:
    """Somebody wants the job to rest, and nobody has acted on it. A job that is done ends."""
    record = look.record
    if record.pause is None or record.ending is not None or record.phase.is_terminal:
        return None
    done = success.all_succeeded(look) or success.died_in_teardown(look)
    if done is not None:
        return done
    said = f": {record.pause.reason}" if record.pause.reason else ""
    record = replace(record, last_save=True)
    return look.end_job(Phase.PAUSED, record, "PauseRequested", f"asked to pause{said}")


def come_to_rest(look: Look) -> Decision | None:
    """Insist until nothing lives, then rest. Ranks that were done before they heard end the job."""
    record = look.record
    if record.ending is not Phase.PAUSED or record.phase is Phase.PAUSED:
        return None
    done = success.all_succeeded(look)
    if done is not None:
        return done
    decision = ending.bring_down(look)
    if decision is None or decision.record.phase is not Phase.PAUSED:
        return decision
    rests = _at_rest(look, decision.record)
    start = rests.history[-1].resumed_from or "the beginning"
    message = f"nothing runs; `phalanx resume {record.job}` goes on from {start}"
    return look.change(rests, "Paused", message, actions=decision.actions)


def resumed(look: Look) -> Decision | None:
    """The request to rest was taken away: the next attempt, all tasks new, not counted."""
    record = look.record
    if record.phase is not Phase.PAUSED or record.pause is not None or record.stop is not None:
        return None
    head = look.observed.head.checkpoint if look.observed.head is not None else None
    rested_ns = look.now_ns - (record.paused_since_ns or look.now_ns)
    opened = replace(
        record,
        phase=Phase.RESTARTING,
        ending=None,
        last_save=False,
        attempt=record.attempt + 1,
        attempt_opened_ns=look.now_ns,
        waiting_since_ns=look.now_ns,
        seats=tuple(_anew(seat) for seat in record.seats),
        uncounted=record.uncounted + 1,
        fruitless=record.fruitless if head == record.head_at_open else 0,
        head_at_open=head,
        backoff_until_ns=None,
        paused_ns=record.paused_ns + max(0, rested_ns),
        paused_since_ns=None,
        sweeps=0,
        quorum_ns=None,
        growing=None,
    )
    message = f"attempt {opened.attempt} goes on from {head or 'the beginning'}"
    return look.change(opened, "Resumed", message)


def _anew(seat: Seat) -> Seat:
    """The next incarnation of a slot; a slot that was given up stays so for now."""
    return replace(
        seat, incarnation=seat.incarnation + 1, tries=0, launched_ns=None, seen_alive=False
    )


def _at_rest(look: Look, record: Record) -> Record:
    """The attempt is over and in the history; the seats stay until the next one opens."""
    head, pause = look.observed.head, record.pause
    said = f"paused: {pause.reason}" if pause is not None and pause.reason else "paused"
    past = PastAttempt(
        attempt=record.attempt,
        ended_ns=look.now_ns,
        cause=Cause(FailureClass.STOPPED_BY_USER, said),
        counted=False,
        resumed_from=head.checkpoint if head is not None else None,
    )
    return replace(
        record,
        history=(*record.history, past),
        ended_ns=None,
        paused_since_ns=look.now_ns,
        sweeps=0,
    )
