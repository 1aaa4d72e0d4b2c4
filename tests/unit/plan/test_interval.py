from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx.plan import interval

MINUTE = 60.0
DELTA = 5 * MINUTE


@pytest.mark.parametrize(
    ("mean_min", "daly_min", "exact_min"),
    [(24 * 60, 116.7, 116.69), (6 * 60, 56.7, 56.71), (15, 9.14, 9.17)],
)
def test_published_values(mean_min: float, daly_min: float, exact_min: float) -> None:
    mean = mean_min * MINUTE
    assert interval.daly(DELTA, mean) / MINUTE == pytest.approx(daly_min, abs=0.05)
    assert interval.exact(DELTA, mean) / MINUTE == pytest.approx(exact_min, abs=0.005)


def test_daly_gives_up_once_a_checkpoint_takes_two_lives() -> None:
    assert interval.daly(20, 10) == 10
    assert interval.daly(21, 10) == 10


@given(st.floats(1e-3, 1e4), st.floats(1.0, 1e8))
def test_exact_is_the_minimum_of_the_expected_time(delta: float, mean: float) -> None:
    best = interval.exact(delta, mean)
    assert 0 < best <= mean
    at_best = interval.expected_factor(best, delta, mean)
    for factor in (0.5, 0.9, 1.1, 2.0):
        other = interval.expected_factor(best * factor, delta, mean)
        assert at_best <= other * (1 + 1e-9)


@given(st.floats(1e-3, 1.0), st.floats(1e4, 1e8))
def test_all_agree_when_checkpoints_are_cheap(delta: float, mean: float) -> None:
    young = interval.young(delta, mean)
    assert interval.daly(delta, mean) == pytest.approx(young, rel=0.02)
    assert interval.exact(delta, mean) == pytest.approx(young, rel=0.02)


def test_the_optimum_is_flat() -> None:
    best = interval.young(2, 356)
    cost = interval.overhead(best, 2, 356)
    assert interval.overhead(2 * best, 2, 356) == pytest.approx(1.25 * cost)
    assert interval.overhead(4 * best, 2, 356) == pytest.approx(2.125 * cost)


def test_announced_losses_make_saves_rarer() -> None:
    assert interval.announced(2, 3600, 0.0) == interval.exact(2, 3600)
    assert interval.announced(0.01, 36000, 0.75) == pytest.approx(
        2 * interval.exact(0.01, 36000), rel=0.01
    )


def test_a_gang_loses_members_as_often_as_all_of_them_together() -> None:
    # 466 - 47 losses of 2,048 nodes in 54 days: one each 3.1 hours.
    assert interval.gang_mean_s(3.8, 2048) / 3600 == pytest.approx(3.1, abs=0.05)


def test_two_levels_are_two_intervals() -> None:
    assert interval.two_levels((2, 8), (100, 400)) == (20, 80)


def test_hopeless_rates_are_infinite_and_not_an_error() -> None:
    assert interval.expected_factor(1000, 1, 1) == float("inf")
    assert interval.exact(1e6, 1.0) > 0
