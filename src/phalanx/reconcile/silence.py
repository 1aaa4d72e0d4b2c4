"""A task that runs but gives no sign: its agent is frozen or cut off, and the others wait for it.

Found soon while a world is being gathered, and once some slots are done. Between the two the
ranks' own standstill is the sign (`Hang`), and silence counts only when it outlasts the start
time-out as well: then nobody is left who could tell. When most of a gang is silent at once it is
probably the store, not the tasks: nobody is replaced before the start time-out.
"""

from __future__ import annotations

from dataclasses import replace

from phalanx.clock import SECOND_NS
from phalanx.reconcile.decision import Decision
from phalanx.reconcile.failure import slots_lost
from phalanx.reconcile.look import Look
from phalanx.reconcile.restart import restart_or_fail
from phalanx.state.record import Cause
from phalanx.words import FailureClass


def silent_member(look: Look) -> Decision | None:
    """Give the slot of a silent agent to a new incarnation; hold when most are silent."""
    record = look.record
    waiting_s, limit_s = _patience(look)
    if waiting_s < limit_s:
        return None
    silent = _silent_slots(look, limit_s)
    if not silent:
        return None
    is_most = 2 * len(silent) > len(record.active) and len(record.active) > 1
    if is_most and waiting_s < record.plan.start_timeout_s:
        words = ", ".join(map(str, silent))
        return look.wait(
            FailureClass.STORE_UNREACHABLE.value,
            f"slots {words} give no sign though their tasks run: nobody is replaced",
        )
    said = f"slot {silent[0]} gives no sign since more than {limit_s:g} s though its task runs"
    cause = Cause(FailureClass.HOST_LOST, said, slot=silent[0])
    decision = restart_or_fail(look, cause, slots_lost(look) | frozenset(silent))
    return replace(decision, recheck_after_s=0.0)


def _patience(look: Look) -> tuple[float, float]:
    """How long the others have been waiting, and how long a silence may last meanwhile."""
    opened_s, limit_s = look.age_s(look.record.attempt_opened_ns), look.timing.silent_s
    if look.observed.world is None:
        return opened_s, limit_s
    done = [e.at_ns for e in look.ends if e.slot in look.done_slots]
    if done:
        return look.age_s(max(done)), limit_s
    return opened_s, limit_s + look.record.plan.start_timeout_s


def _silent_slots(look: Look, limit_s: float) -> list[int]:
    ready = look.observed.members if look.observed.world is None else look.ends
    there = {(m.slot, m.incarnation) for m in ready}
    running = {t.slot for t in look.buckets.running}
    ages: dict[tuple[int, int], int] = {}
    for seen in look.observed.beats:
        key = (seen.beat.slot, seen.beat.incarnation)
        ages[key] = min(seen.age_ns, ages.get(key, seen.age_ns))
    return [
        s.slot
        for s in look.record.active
        if s.slot in running
        and (s.slot, s.incarnation) not in there
        and ages.get((s.slot, s.incarnation), 0) > limit_s * SECOND_NS
    ]
