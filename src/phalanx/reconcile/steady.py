"""Nothing to do: say where the job is and what it waits for."""

from __future__ import annotations

from dataclasses import replace

from phalanx.reconcile import elastic
from phalanx.reconcile.decision import Decision
from phalanx.reconcile.look import Look
from phalanx.words import Phase

QUIET_S = 1.0
"""A gang that comes together within this time is not disturbed by writing down that it does."""


def gathering(look: Look) -> Decision | None:
    """Tasks run, but the world is not frozen yet."""
    record = look.record
    if look.observed.world is not None:
        return None
    there = {(m.slot, m.incarnation) for m in look.observed.members}
    absent = [s.slot for s in record.active if (s.slot, s.incarnation) not in there]
    phase = Phase.STARTING if record.attempt == 0 else Phase.RESTARTING
    message = f"waiting for slot {', '.join(map(str, absent))}" if absent else "freezing the world"
    if record.phase is phase and look.age_s(record.attempt_opened_ns) < QUIET_S:
        return Decision(record, "Gathering", message, recheck_after_s=QUIET_S)
    return _say(look, phase, "Gathering", message)


def running(look: Look) -> Decision:
    """The world is frozen; its ranks train."""
    done = look.done_slots
    if done:
        left = [s.slot for s in look.record.active if s.slot not in done]
        words = ", ".join(map(str, left))
        return _say(look, Phase.RUNNING, "Finishing", f"slot {words} still at work")
    fewer = elastic.fewer(look)
    if fewer:
        return _say(look, Phase.RUNNING, "RunningWithFewer", fewer)
    return _say(look, Phase.RUNNING, "Training", f"attempt {look.record.attempt} is at work")


def _say(look: Look, phase: Phase, reason: str, message: str) -> Decision:
    decision = look.wait(reason, message)
    if decision.record.phase is phase:
        return decision
    return replace(decision, record=replace(decision.record, phase=phase))
