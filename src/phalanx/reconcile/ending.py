"""Bring a job down: stop every task, remove what is left, then turn terminal, then sweep."""

from __future__ import annotations

from dataclasses import replace

from phalanx.reconcile.decision import Action, Clean, Decision, Stop
from phalanx.reconcile.look import Look
from phalanx.words import Phase

STOP_MARGIN_S = 10.0
"""Given to an agent, beyond its ranks' grace, to write its ending."""
ZOMBIE_AFTER_S = 600.0
"""A task that is still there this long after its grace no longer holds up the job's end."""


def user_stop(look: Look) -> Decision | None:
    """A stop request that nobody has acted on yet."""
    record = look.record
    is_ending = record.ending not in (None, Phase.PAUSED)
    if record.stop is None or is_ending or record.phase.is_terminal:
        return None
    said = f": {record.stop.reason}" if record.stop.reason else ""
    record = replace(record, last_save=record.stop.save)
    return look.end_job(Phase.STOPPED, record, "StopRequested", f"asked to stop{said}")


def bring_down(look: Look) -> Decision | None:
    """The job has its ending; wait until nothing of it lives, insisting more and more."""
    record = look.record
    if record.ending is None or record.phase.is_terminal:
        return None
    actions = _insist(look)
    waited_s = look.age_s(record.ending_since_ns)
    is_zombie = waited_s > record.plan.stop_grace_s + STOP_MARGIN_S + ZOMBIE_AFTER_S
    if actions and not is_zombie:
        wait = look.wait(record.reason, record.message, min(look.timing.recheck_s, 0.5))
        return replace(wait, actions=actions)
    record = replace(
        record,
        phase=record.ending,
        ended_ns=look.now_ns,
        warning="ZombieHost: a task would not end; it may still bill"
        if actions
        else record.warning,
    )
    return look.change(record, record.reason, record.message, actions=actions)


def sweep(look: Look) -> Decision | None:
    """What has ended, or rests, stays so; strays are stopped until two sweeps running are empty."""
    record = look.record
    is_resting = record.phase is Phase.PAUSED and record.stop is None
    if not record.phase.is_terminal and not is_resting:
        return None
    actions = _insist(look)
    if actions:
        # A zombie that will not go is asked again and again, but less and less often.
        patience_s = min(60.0, look.age_s(record.ended_ns or look.now_ns) / 10)
        recheck_s = max(look.timing.sweep_gap_s, patience_s)
        wait = look.wait(record.reason, record.message, recheck_s)
        return replace(wait, record=replace(wait.record, sweeps=0), actions=actions)
    if record.sweeps >= 2:
        return look.wait(record.reason, record.message, 3600.0)
    gap_s = look.timing.sweep_gap_s
    if record.sweeps and look.age_s(record.swept_ns) < gap_s:
        return look.wait(record.reason, record.message, gap_s)
    swept = replace(record, sweeps=record.sweeps + 1, swept_ns=look.now_ns)
    wait = look.wait(record.reason, record.message, gap_s)
    return replace(wait, record=swept)


def _insist(look: Look) -> tuple[Action, ...]:
    record = look.record
    grace_s = _grace(look)
    stops = tuple(Stop(task, record.reason, grace_s) for task in look.buckets.alive)
    left = look.observed.leftovers
    return stops + ((Clean(left),) if left and not stops else ())


def _grace(look: Look) -> float:
    """A stop by the user and a last save give the script its full grace; else work is over."""
    record = look.record
    if record.last_save or Phase.STOPPED in (record.ending, record.phase):
        return record.plan.stop_grace_s + STOP_MARGIN_S
    return STOP_MARGIN_S
