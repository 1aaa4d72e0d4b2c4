"""Cost as a range with its drivers and the day of its basis, or an honest `no basis`."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx.plan.decisions.decision import Source, cite
from phalanx.plan.saving import Saving
from phalanx.plan.sizing import Sized
from phalanx.plan.workload import Workload


@dataclass(frozen=True)
class Cost:
    """A range of money for one run (training) or for 30 days (everything else)."""

    low: float
    high: float
    currency: str
    basis: str
    period: str


@dataclass(frozen=True)
class Basis:
    """What cost depends on; `because` says why there is a range or none."""

    because: str
    drivers: tuple[str, ...]
    sources: tuple[Source, ...]


MONTH_H = 30 * 24.0


def cost(workload: Workload, sized: Sized, kept: Saving | None) -> tuple[Cost | None, Basis]:
    """The range, or None, and what it rests on."""
    hours = _hours(workload, sized, kept)
    price = workload.price
    drivers = _drivers(workload, sized)
    if price is None:
        why = "No basis: no price is known here, and none is guessed. Give `price` with its source."
        return None, Basis(why, drivers, cite("plan.prices"))
    if hours is None:
        why = "No basis: a price is given, but neither a length nor a number of instances is known."
        return None, Basis(why, drivers, cite("plan.prices"))
    low, high, period = hours
    basis = f"{price.source}, read on {price.date}"
    made = Cost(
        _round(price.low * low, down=True),
        _round(price.high * high, down=False),
        price.currency,
        basis,
        period,
    )
    why = (
        f"{low:,.0f} to {high:,.0f} instance-hours for {period}, times the given range of prices; "
        "storage, network and monitoring come on top."
    )
    return made, Basis(why, drivers, cite("plan.prices"))


def _hours(
    workload: Workload, sized: Sized, kept: Saving | None
) -> tuple[float, float, str] | None:
    """(fewest, most, of what) instance-hours."""
    if workload.trains:
        if workload.run.duration_s is None:
            return None
        least = workload.run.duration_s / 3600 * sized.nodes
        # Losses and checkpoints lengthen the run; twice the first-order overhead is the upper end.
        return least, least * (1 + 2 * (kept.overhead if kept else 0.0)), "one run"
    if workload.use == "inference":
        each = max(1, (sized.instance.count if sized.instance else 1) // max(sized.devices, 1))
        low, high = (-(-count // each) for count in workload.serving.replicas)
        # A deployment may hold twice the instances while it lasts.
        return low * MONTH_H, high * MONTH_H * 1.1, "30 days"
    share = workload.run.utilisation or 0.25
    return sized.nodes * MONTH_H * share, sized.nodes * MONTH_H, "30 days"


def _round(value: float, *, down: bool) -> float:
    """Two leading digits, outwards: more would claim a precision that nobody has."""
    if value <= 0:
        return 0.0
    step = 1.0
    while value / step >= 100:
        step *= 10
    while value / step < 10:
        step /= 10
    whole = value // step
    return float(f"{(whole if down else whole + 1) * step:.12g}")


def _drivers(workload: Workload, sized: Sized) -> tuple[str, ...]:
    if workload.devices.is_cpu:
        return _cpu_drivers(workload)
    name = sized.instance.name if sized.instance else "the instance type"
    drivers = [
        f"hours of {name}: {sized.nodes} node{'s' if sized.nodes > 1 else ''} and the length of "
        "the run"
        if workload.trains
        else f"instances of {name} that stand, busy or idle",
        "purchase option and Region: On-Demand, Spot, reservation, Capacity Block",
    ]
    if workload.trains:
        drivers.append("time lost to losses, checkpoints and waiting (see `phalanx ledger`)")
    if workload.use == "inference":
        drivers.append("the surge of deployments, up to twice the GPUs while they last")
    drivers.append("Managed Instances add a fee for each instance; storage, NAT, logs and metrics")
    return tuple(drivers)


def _cpu_drivers(workload: Workload) -> tuple[str, ...]:
    drivers = ["vCPU-hours and GiB-hours of the tasks, busy or idle", "Region, and Spot or not"]
    if workload.trains:
        drivers.append("time lost to losses, checkpoints and waiting (see `phalanx ledger`)")
    if workload.use == "inference":
        drivers.append("the surge of deployments, up to twice the tasks while they last")
    return (*drivers, "storage, load balancer, NAT, logs and metrics")
