"""When a save is due."""

from __future__ import annotations

from phalanx.train.environment import Every
from phalanx.train.schedule import MEAN_TIME_BETWEEN_LOSSES_S, STEPS_WITHOUT_AGREEMENT, Schedule

S = 10**9


def first_due(schedule: Schedule, since_s: int, limit_s: int = 10_000) -> int:
    """Seconds after `since_s` until the schedule wishes a save."""
    wishes = (s for s in range(limit_s) if schedule.by_time((since_s + s) * S))
    return next(wishes)


def test_by_steps_time_does_not_matter() -> None:
    schedule = Schedule(Every(steps=4))
    assert [done for done in range(1, 13) if schedule.by_count(done)] == [4, 8, 12]
    assert not schedule.by_time(0)
    assert not schedule.by_time(10**15)


def test_by_seconds_from_the_first_step_then_from_each_save() -> None:
    schedule = Schedule(Every(seconds=20))
    assert not schedule.by_count(1)
    assert first_due(schedule, 1000) == 20
    schedule.saved(1020 * S, stall_ns=9 * S, write_ns=9 * S)
    assert first_due(schedule, 1020) == 20


def test_auto_saves_early_then_by_youngs_formula() -> None:
    schedule = Schedule(Every())
    assert first_due(schedule, 0) == 30
    schedule.saved(30 * S, stall_ns=S // 10, write_ns=0)
    expected = (2 * 0.1 * MEAN_TIME_BETWEEN_LOSSES_S) ** 0.5
    assert first_due(schedule, 30) == int(expected) + 1
    schedule.saved(100 * S, stall_ns=1, write_ns=0)
    assert first_due(schedule, 100) == 5
    schedule.saved(200 * S, stall_ns=1, write_ns=20 * S)
    assert first_due(schedule, 200) == 200


def test_ranks_that_cannot_agree_count_steps() -> None:
    for every in (Every(), Every(seconds=3)):
        schedule = Schedule(every)
        schedule.count_only()
        assert schedule.by_count(STEPS_WITHOUT_AGREEMENT)
        assert not schedule.by_time(10**15)
    kept = Schedule(Every(steps=7))
    kept.count_only()
    assert kept.by_count(7)
