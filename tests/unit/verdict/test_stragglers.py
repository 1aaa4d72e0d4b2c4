"""The slow rank is named, and noise alone names nobody."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phalanx.train.pace import BLOCK, median
from phalanx.verdict.stragglers import Straggler, Work, stragglers

MS = 1_000_000


def measured(rank: int, own_ns: list[float], ranks_per_slot: int = 1) -> Work:
    """A rank's work as its meter tells it."""
    times = [int(value) for value in own_ns]
    middle = median(times)
    spread = median([abs(value - middle) for value in times])
    return Work(rank, rank // ranks_per_slot, len(times), middle, spread)


def noise(kind: str, rng: random.Random) -> float:
    """Mean about one."""
    if kind == "normal":
        return max(0.05, rng.gauss(1.0, 0.15))
    if kind == "lognormal":
        return rng.lognormvariate(0.0, 0.5)
    if kind == "exponential":
        return rng.expovariate(1.0)
    return 1.0 if rng.random() < 0.9 else rng.uniform(2.0, 20.0)  # bursts


KINDS = ("normal", "lognormal", "exponential", "bursts")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**32),
    ranks=st.integers(2, 64),
    step_ms=st.sampled_from((1, 20, 300, 5000)),
)
def test_noise_alone_names_nobody(kind: str, seed: int, ranks: int, step_ms: int) -> None:
    rng = random.Random(seed)
    works = [
        measured(rank, [step_ms * MS * noise(kind, rng) for _ in range(BLOCK)])
        for rank in range(ranks)
    ]
    assert stragglers(works) == ()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32),
    ranks=st.integers(2, 64),
    step_ms=st.sampled_from((20, 300, 5000)),
    data=st.data(),
)
def test_a_rank_that_is_slow_by_a_third_is_found(
    seed: int, ranks: int, step_ms: int, data: st.DataObject
) -> None:
    rng = random.Random(seed)
    slow = data.draw(st.integers(0, ranks - 1))
    works = [
        measured(
            rank,
            [
                step_ms * MS * (1.3 if rank == slow else 1.0) * max(0.1, rng.gauss(1.0, 0.08))
                for _ in range(BLOCK)
            ],
        )
        for rank in range(ranks)
    ]
    found = stragglers(works)
    assert [one.rank for one in found] == [slow]
    assert 1.15 < found[0].ratio < 1.5


def test_all_ranks_of_a_slow_slot_are_found() -> None:
    works = [Work(rank, rank // 4, 50, (40 if rank >= 4 else 20) * MS) for rank in range(8)]
    assert sorted(one.rank for one in stragglers(works)) == [4, 5, 6, 7]


def test_two_slow_ranks_of_many_are_told_slowest_first() -> None:
    works = [
        Work(rank, rank, 50, (30 + 10 * (rank == 3) if rank in (1, 3) else 20) * MS)
        for rank in range(8)
    ]
    assert [one.rank for one in stragglers(works)] == [3, 1]


@pytest.mark.parametrize(
    "works",
    [
        [],
        [Work(0, 0, 50, 20 * MS)],
        [Work(0, 0, 50, 20 * MS), Work(1, 1, 0, 0)],
        [Work(0, 0, 50, 0), Work(1, 1, 50, MS)],
        [Work(0, 0, 50, 100 * MS), Work(1, 1, 50, 119 * MS)],
        # The others differ as much among themselves.
        [Work(rank, rank, 50, own * MS) for rank, own in enumerate((60, 80, 100, 120, 140))],
    ],
    ids=["none", "alone", "one-known", "tiny", "small", "mixed"],
)
def test_nobody_is_named_without_good_reason(works: list[Work]) -> None:
    assert stragglers(works) == ()


def test_the_sentence_says_who_and_by_how_much() -> None:
    one = Straggler(3, 1, 50, 28 * MS, 20 * MS)
    says = "rank 3 (slot 1) is slow: 1.4x the median of the others over the last 50 steps"
    assert one.words() == says
    assert one.words(over=True) == says.replace("is slow", "was slow").replace("the last ", "")
    assert one.excess_ns == 8 * MS
