"""Limits in time: a gang that does not come together, and a job that has run long enough."""

from __future__ import annotations

from dataclasses import replace

from phalanx.reconcile import hours
from phalanx.reconcile.decision import Decision
from phalanx.reconcile.failure import slots_lost
from phalanx.reconcile.look import Look
from phalanx.reconcile.restart import restart_or_fail
from phalanx.state.record import Cause
from phalanx.words import FailureClass, Phase


def max_runtime(look: Look) -> Decision | None:
    """The job's own limit, always set. Rests do not count; what can be saved is saved first."""
    record = look.record
    if hours.ran_s(look) < record.plan.max_runtime_s:
        return None
    said = f"ran longer than max_runtime ({record.plan.max_runtime_s:g} s)"
    cause = Cause(FailureClass.STOPPED_BY_US, said)
    record = replace(record, cause=cause, last_save=True)
    return look.end_job(Phase.FAILED, record, "MaxRuntime", said)


def max_waiting(look: Look) -> Decision | None:
    """The longest that a job may be without a world, over however many attempts."""
    record = look.record
    since_ns = record.waiting_since_ns if record.waiting_since_ns is not None else record.created_ns
    if look.observed.world is not None or look.age_s(since_ns) < record.plan.max_waiting_s:
        return None
    said = f"no world for longer than max_waiting ({record.plan.max_waiting_s:g} s)"
    cause = Cause(FailureClass.CAPACITY_UNAVAILABLE, said)
    return look.end_job(Phase.FAILED, replace(record, cause=cause), "MaxWaiting", said)


def start_timeout(look: Look) -> Decision | None:
    """No world within the start time-out: name the slots that are not there.

    Slots that have no task are waited for longer: there `max_waiting` is the limit.
    """
    record = look.record
    if look.observed.world is not None:
        return None
    if look.age_s(record.attempt_opened_ns) < record.plan.start_timeout_s:
        return None
    there = {(m.slot, m.incarnation) for m in look.observed.members}
    absent = [s.slot for s in record.active if (s.slot, s.incarnation) not in there]
    unfilled = {s.slot for s in (*look.buckets.missing, *look.buckets.hidden)}
    if absent and unfilled >= set(absent):
        return None
    words = ", ".join(map(str, absent)) or "none"
    said = f"no world within {record.plan.start_timeout_s:g} s; slots not ready: {words}"
    return restart_or_fail(
        look, Cause(FailureClass.START_TIMEOUT, said), slots_lost(look) | frozenset(absent)
    )
