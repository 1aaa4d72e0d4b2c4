from __future__ import annotations

import pytest
from bench import stats
from bench.stats import Goal


def test_quantiles_lie_between_neighbours() -> None:
    assert stats.quantile([4, 1, 3, 2], 0.5) == 2.5
    assert stats.quantile([4, 1, 3, 2], 0.0) == 1
    assert stats.quantile([4, 1, 3, 2], 1.0) == 4
    assert stats.quantile(range(101), 0.95) == 95


def test_no_values_have_no_quantile() -> None:
    with pytest.raises(ValueError, match="no values"):
        stats.median([])


def test_the_interval_holds_the_median_and_shrinks_with_more_trials() -> None:
    few, many = [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0] * 40
    low, high = stats.interval(stats.median, few)
    assert low <= 3.0 <= high
    narrow = stats.interval(stats.median, many)
    assert narrow[1] - narrow[0] < high - low


def test_equal_values_leave_no_doubt() -> None:
    assert stats.interval(stats.median, [2.0] * 9) == (2.0, 2.0)


def test_intervals_repeat() -> None:
    values = [0.3, 0.1, 0.9, 0.4]
    assert stats.interval(stats.median, values) == stats.interval(stats.median, values)


@pytest.mark.parametrize(
    ("goal", "low", "high", "met"),
    [
        (Goal("ours", 0.3), 0.1, 0.3, True),
        (Goal("ours", 0.3), 0.1, 0.31, False),
        (Goal("peer/ours", 5, is_least=True), 5.0, 9.0, True),
        (Goal("peer/ours", 5, is_least=True), 4.9, 9.0, False),
    ],
)
def test_the_bad_end_decides(goal: Goal, low: float, high: float, met: bool) -> None:
    assert goal.met(low, high) is met


def test_a_failed_trial_that_counts_as_the_limit_spoils_the_tail_not_the_middle() -> None:
    ours = [0.2] * 29 + [30.0]
    assert stats.value_row("m", ours, "s", Goal("ours", 0.3)).met is True
    assert stats.value_row("t", [0.2] * 20 + [30.0] * 4, "s", Goal("ours", 0.6), 0.95).met is False


def test_a_speed_up_is_told_as_peer_over_ours() -> None:
    row = stats.ratio_row("x", [0.2] * 5, [2.0] * 5, "s", Goal("peer/ours", 5, is_least=True))
    assert (row.ours, row.peer, row.met) == (0.2, 2.0, True)
    assert row.ratio == pytest.approx(10.0)
    assert row.low == pytest.approx(10.0)


def test_a_cost_is_told_as_ours_over_peer() -> None:
    row = stats.ratio_row("x", [1.2] * 5, [1.0] * 5, "s", Goal("ours/peer", 1.15))
    assert (row.ratio, row.met) == (1.2, False)


def test_without_a_goal_nothing_is_judged() -> None:
    row = stats.ratio_row("x", [1.0], [2.0], "s", None)
    assert (row.ratio, row.goal, row.met) == (0.5, None, None)


def test_a_share_is_of_sums_not_of_blocks() -> None:
    row = stats.share_row("cpu", [(1.0, 100.0), (0.0, 300.0)], "%", Goal("100*ours/peer", 2.0))
    assert row.ratio == 0.25
    assert row.met is True
