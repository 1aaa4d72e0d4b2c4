"""What happens after a failure when the job file does not say: the rules behind the user's own.

| failure class | then |
|---|---|
| SpotInterruption, HostLost, CapacityUnavailable, StoreUnreachable, Superseded, StoppedByUs, Resized | restart, not counted: nobody's script is to blame |
| OutOfMemory, ImagePull, DriverMismatch, DiskFull, SourceDamaged, BadCommand | fail: another try meets the same end |
| NoProgress, StoppedByUser | fail: the end was decided |
| Killed | restart, at most 10 times |
| NonZeroExit, Hang and every other class | restart, at most 3 times each |

Every class has a budget of its own, and a class that a rule of the job file names is left to it.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Sequence

from phalanx.plan.job import RestartRule
from phalanx.spec.restart import FINAL, Rule
from phalanx.words import FailureClass

NOT_COUNTED = (
    FailureClass.SPOT_INTERRUPTION,
    FailureClass.HOST_LOST,
    FailureClass.CAPACITY_UNAVAILABLE,
    FailureClass.STORE_UNREACHABLE,
    FailureClass.SUPERSEDED,
    FailureClass.STOPPED_BY_US,
    FailureClass.RESIZED,
)
"""Restarted without end: `limits.no_progress` and `limits.max_runtime` still hold."""
FAILING = (
    FailureClass.OUT_OF_MEMORY,
    FailureClass.IMAGE_PULL,
    FailureClass.DRIVER_MISMATCH,
    FailureClass.DISK_FULL,
    FailureClass.SOURCE_DAMAGED,
    FailureClass.BAD_COMMAND,
    *sorted(FINAL),
)
"""Another attempt would end the same way, or the end was decided."""
KILLED_LIMIT = 10
"""Restarts after a rank died by a signal."""
OTHER_LIMIT = 3
"""Restarts of each further class."""


def restart_rules(rules: Sequence[Rule]) -> tuple[RestartRule, ...]:
    """The rules of the job file, then the built-in ones for every class they do not name."""
    asked = tuple(_resolved(rule) for rule in rules)
    named = {failure for rule in asked for failure in rule.on}
    return asked + tuple(_without(rule, named) for rule in _built_in() if set(rule.on) - named)


def _resolved(rule: Rule) -> RestartRule:
    counted = rule.counted is not False
    return RestartRule(on=rule.on, do=rule.do or "restart", limit=rule.limit, counted=counted)


def _built_in() -> list[RestartRule]:
    rules = [RestartRule(NOT_COUNTED, counted=False), RestartRule(FAILING, do="fail")]
    for failure in FailureClass:
        if failure not in NOT_COUNTED and failure not in FAILING:
            limit = KILLED_LIMIT if failure is FailureClass.KILLED else OTHER_LIMIT
            rules.append(RestartRule((failure,), limit=limit))
    return rules


def _without(rule: RestartRule, named: set[FailureClass]) -> RestartRule:
    left = tuple(failure for failure in rule.on if failure not in named)
    return RestartRule(left, do=rule.do, limit=rule.limit, counted=rule.counted)
