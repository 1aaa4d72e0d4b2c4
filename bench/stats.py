"""Medians, quantiles, bootstrap intervals, and the judgement of a goal. Pure."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

ROUNDS = 2000
"""Resamplings of one interval."""
COVERAGE = 0.95

Samples = Sequence[Any]


def quantile(values: Samples, share: float) -> float:
    """The value below which `share` of the sorted values lie, linear between neighbours."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (place - below) * (ordered[above] - ordered[below]))


def median(values: Samples) -> float:
    """The middle value."""
    return quantile(values, 0.5)


def interval(
    statistic: Callable[..., float], *groups: Samples, rounds: int = ROUNDS, seed: int = 1
) -> tuple[float, float]:
    """Bootstrap interval of `statistic(*groups)`: each group is resampled by itself."""
    chance = random.Random(seed)
    found = [
        statistic(*(chance.choices(group, k=len(group)) for group in groups)) for _ in range(rounds)
    ]
    rest = (1 - COVERAGE) / 2
    return quantile(found, rest), quantile(found, 1 - rest)


def ratio_of_medians(ours: Samples, peer: Samples) -> float:
    """Median of the first over median of the second."""
    return median(ours) / median(peer)


def ratio_of_sums(pairs: Sequence[tuple[float, float]]) -> float:
    """Sum of the first parts over the sum of the second."""
    return sum(a for a, _ in pairs) / sum(b for _, b in pairs)


@dataclass(frozen=True)
class Goal:
    """A limit: at most, or at least."""

    what: str
    """The judged quantity: `ours`, `ours/peer`, `peer/ours`."""
    limit: float
    is_least: bool = False

    def __str__(self) -> str:
        return f"{self.what} {'>=' if self.is_least else '<='} {self.limit:g}"

    def met(self, low: float, high: float) -> bool:
        """Whether the bad end of the interval keeps the limit."""
        return low >= self.limit if self.is_least else high <= self.limit


@dataclass(frozen=True)
class Row:
    """One line of results.json. `low` and `high` bound what the goal judges."""

    name: str
    ours: float | None
    peer: float | None
    ratio: float | None
    unit: str
    trials: int
    low: float | None
    high: float | None
    goal: str | None
    met: bool | None


def value_row(name: str, ours: Samples, unit: str, goal: Goal | None, share: float = 0.5) -> Row:
    """A quantile of ours against a limit."""
    low, high = interval(lambda values: quantile(values, share), ours)
    return Row(
        name,
        quantile(ours, share),
        None,
        None,
        unit,
        len(ours),
        low,
        high,
        str(goal) if goal else None,
        goal.met(low, high) if goal else None,
    )


def ratio_row(name: str, ours: Samples, peer: Samples, unit: str, goal: Goal | None) -> Row:
    """Medians side by side; the ratio is the goal's quotient (`ours/peer` without a goal)."""
    flip = goal is not None and goal.what == "peer/ours"
    first, second = (peer, ours) if flip else (ours, peer)
    low, high = interval(ratio_of_medians, first, second)
    return Row(
        name,
        median(ours),
        median(peer),
        ratio_of_medians(first, second),
        unit,
        min(len(ours), len(peer)),
        low,
        high,
        str(goal) if goal else None,
        goal.met(low, high) if goal else None,
    )


def share_row(name: str, pairs: Sequence[tuple[float, float]], unit: str, goal: Goal) -> Row:
    """Sum over sum in percent, resampled by pair; ours and peer are the two sums."""
    low, high = interval(lambda drawn: 100 * ratio_of_sums(drawn), pairs)
    ours, peer = sum(a for a, _ in pairs), sum(b for _, b in pairs)
    percent = 100 * ours / peer
    met = goal.met(low, high)
    return Row(name, ours, peer, percent, unit, len(pairs), low, high, str(goal), met)
