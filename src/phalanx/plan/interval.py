"""How often to save: intervals between checkpoints, in seconds.

delta is what training is blocked for per checkpoint, M the mean time between losses of the gang,
R the restart, L the lag from the snapshot until it is durable. All are seconds above 0.
"""

from __future__ import annotations

from math import exp, expm1, log1p, sqrt


def young(delta_s: float, mean_s: float) -> float:
    """Young 1974: sqrt(2 delta M)."""
    return sqrt(2 * delta_s * mean_s)


def daly(delta_s: float, mean_s: float) -> float:
    """Daly 2006, higher order; M itself once delta reaches 2 M."""
    if delta_s >= 2 * mean_s:
        return mean_s
    xi = delta_s / (2 * mean_s)
    return young(delta_s, mean_s) * (1 + sqrt(xi) / 3 + xi / 9) - delta_s


def exact(delta_s: float, mean_s: float) -> float:
    """The optimum for exponential losses: M (1 + W0(-exp(-1 - delta/M)))."""
    return mean_s * (1 + _lambert_w0_near_branch(delta_s / mean_s))


def announced(delta_s: float, mean_s: float, share: float) -> float:
    """The interval when `share` of the losses (0 to below 1) is announced in time.

    Only the others cost lost work, so their mean time between losses is what counts.
    """
    return exact(delta_s, mean_s / (1 - share))


def two_levels(stalls_s: tuple[float, float], means_s: tuple[float, float]) -> tuple[float, float]:
    """Intervals of two levels, such as peer memory and durable storage: each its own Young."""
    return young(stalls_s[0], means_s[0]), young(stalls_s[1], means_s[1])


def overhead(interval_s: float, delta_s: float, mean_s: float, lost_s: float = 0.0) -> float:
    """Share of the time that checkpoints and losses take, first order; `lost_s` is R + L."""
    return delta_s / interval_s + (interval_s / 2 + lost_s) / mean_s


def expected_factor(
    interval_s: float, delta_s: float, mean_s: float, restart_s: float = 0.0
) -> float:
    """Wall time for each second of useful work, exactly, under exponential losses.

    Infinite when losses come so often that it cannot be told apart from never ending.
    """
    exponent = (interval_s + delta_s) / mean_s
    if exponent > 500 or restart_s / mean_s > 500:
        return float("inf")
    return mean_s * exp(restart_s / mean_s) * expm1(exponent) / interval_s


def gang_mean_s(losses_per_1000_node_days: float, nodes: int) -> float:
    """Mean time between losses of a gang: one over the sum of its members' rates."""
    return 86400.0 * 1000 / (losses_per_1000_node_days * nodes)


def _lambert_w0_near_branch(ratio: float) -> float:
    """W0(-exp(-1 - ratio)) for ratio > 0, without the loss of digits near -1/e.

    With w = -1 + u the equation w e^w = -e^(-1-ratio) is log(1 - u) + u = -ratio, 0 < u < 1.
    """
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if log1p(-middle) + middle > -ratio:
            low = middle
        else:
            high = middle
    return -1 + (low + high) / 2
