"""Wishes to save are ordered: the earliest deadline wins."""

from __future__ import annotations

import pytest

from phalanx.train.agreement import ADVICE, DUE, NONE, Alone, Word, left_ms_of, wish_of


@pytest.mark.parametrize("left_ms", [0, 1, 499, 2_000, 120_000, 86_400_000, 30 * 86_400_000])
def test_a_deadline_survives_the_reduction(left_ms: int) -> None:
    assert left_ms_of(wish_of(left_ms)) == left_ms


@pytest.mark.parametrize(("left_ms", "told"), [(-5, 0), (1 << 50, (1 << 40) - 3)])
def test_what_cannot_be_told_exactly(left_ms: int, told: int) -> None:
    assert left_ms_of(wish_of(left_ms)) == told
    assert wish_of(left_ms) > ADVICE


def test_the_order() -> None:
    wishes = [NONE, DUE, wish_of(None), wish_of(1 << 50), wish_of(120_000), wish_of(2_000)]
    wishes.append(wish_of(0))
    assert wishes == sorted(set(wishes))
    assert max(wishes) < 1 << 62, "it must fit a 64-bit integer"


@pytest.mark.parametrize("wish", [NONE, DUE, ADVICE])
def test_without_a_deadline_nothing_is_left(wish: int) -> None:
    assert left_ms_of(wish) is None


def test_a_single_rank_hears_its_own_deadline_and_cost() -> None:
    alone = Alone()
    alone.say(wish_of(500), True, 70)
    assert alone.heard() == Word(wish_of(500), True, 70)
