"""The pure core: record + observed + now → decision.

Policies are tried in the written order and the first that answers ends the pass. Every answer
has a reason, also "waiting". See README.md beside this file.
"""

from __future__ import annotations

from collections.abc import Callable

from phalanx.reconcile import deadlines, ending, failure, launch, silence, steady, success
from phalanx.reconcile.decision import Decision, Timing
from phalanx.reconcile.look import Look
from phalanx.state.observed import Observed
from phalanx.state.record import Record

POLICIES: tuple[Callable[[Look], Decision | None], ...] = (
    ending.sweep,
    ending.user_stop,
    ending.bring_down,
    success.all_succeeded,
    success.died_in_teardown,
    deadlines.max_runtime,
    deadlines.max_waiting,
    failure.failed_attempt,
    launch.wait_for_strays,
    launch.note_alive,
    launch.launch_missing,
    silence.silent_member,
    deadlines.start_timeout,
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
            return launch.stop_strays(look, decision)
    raise AssertionError("the last policy always answers")
