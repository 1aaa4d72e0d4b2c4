"""A few hundred seeded schedules; `make soak` plays the many."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from phalanx.sim.faults import ELASTIC_KINDS, KINDS
from phalanx.sim.run import Options, Outcome, simulate

SEEDS = 200
CHUNK = 20
ELASTIC_SEEDS = 40


@cache
def played(first: int) -> tuple[Outcome, ...]:
    return tuple(simulate(seed) for seed in range(first, first + CHUNK))


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_every_promise_is_kept(first: int) -> None:
    broken = [outcome.told() for outcome in played(first) if outcome.violations]
    assert not broken, broken[0]


def test_the_schedules_are_worth_their_time() -> None:
    """A simulator in which nothing goes wrong proves nothing."""
    counts: Counter[str] = Counter()
    for outcome in played(0):
        counts.update(outcome.counts)
        assert len(outcome.faults) >= 6
    assert counts["end Succeeded"] >= CHUNK // 2
    assert counts["attempts"] > 1.5 * CHUNK
    assert min(counts["commits"], counts["seals"], counts["shuffled"]) > CHUNK


def test_at_least_fourteen_kinds_of_fault_are_drawn() -> None:
    drawn = {fault.kind for outcome in played(0) for fault in outcome.faults}
    assert drawn <= set(KINDS)
    assert len(drawn) >= 14


@cache
def played_elastic(first: int) -> tuple[Outcome, ...]:
    options = Options(elastic=True)
    return tuple(simulate(seed, options) for seed in range(first, first + CHUNK))


@pytest.mark.parametrize("first", range(0, ELASTIC_SEEDS, CHUNK))
def test_every_promise_is_kept_by_a_job_with_a_range_of_nodes(first: int) -> None:
    broken = [outcome.told() for outcome in played_elastic(first) if outcome.violations]
    assert not broken, broken[0]


def test_elastic_schedules_shrink_and_grow() -> None:
    counts: Counter[str] = Counter()
    for outcome in played_elastic(0):
        counts.update(outcome.counts)
        assert {fault.kind for fault in outcome.faults} & set(ELASTIC_KINDS)
    assert min(counts["shrinks"], counts["growths"], counts["swaps"]) > CHUNK / 4
    assert counts["end Succeeded"] >= CHUNK // 2
