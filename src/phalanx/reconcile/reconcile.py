"""The pure core: record + observed + now → decision.

Policies are tried in the written order and the first that answers ends the pass. Every answer
has a reason, also "waiting". See README.md beside this file.
"""

from __future__ import annotations

from collections.abc import Callable

from phalanx.reconcile import (
    deadlines,
    elastic,
    ending,
    failure,
    hours,
    launch,
    pausing,
    silence,
    steady,
    success,
)
from phalanx.reconcile.decision import Decision, Timing
from phalanx.reconcile.look import Look
from phalanx.state.observed import Observed
from phalanx.state.record import Record

POLICIES: tuple[Callable[[Look], Decision | None], ...] = (
    pausing.resumed,
    ending.sweep,
    ending.user_stop,
    pausing.asked,
    pausing.come_to_rest,
    ending.bring_down,
    success.all_succeeded,
    success.died_in_teardown,
    deadlines.max_runtime,
    hours.max_instance_hours,
    deadlines.max_waiting,
    hours.limit_near,
    elastic.stillborn,
    failure.failed_attempt,
    elastic.standbys,
    elastic.last_call,
    launch.wait_for_strays,
    launch.note_alive,
    launch.launch_missing,
    silence.silent_member,
    deadlines.start_timeout,
    elastic.grow,
    steady.gathering,
    steady.running,
)
"""In order of precedence."""


def reconcile(
    record: Record, observed: Observed, now_ns: int, timing: Timing | None = None
) -> Decision:
    """What to do next. Deterministic: equal inputs give an equal decision.

    `now_ns` is the store's clock. Never raises for anything a job may do.
    """
    look = Look(record, observed, now_ns, timing or Timing())
    for policy in POLICIES:
        decision = policy(look)
        if decision is not None:
            decision = elastic.ask_again(look, launch.stop_strays(look, decision))
            return hours.booked(look, decision)
    raise AssertionError("the last policy always answers")
