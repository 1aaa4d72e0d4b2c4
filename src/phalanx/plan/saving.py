"""The checkpoint interval of a plan: from losses, stall and restart, with what was assumed."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx.facts.rows import rows
from phalanx.plan import interval
from phalanx.plan.decisions.decision import Source, cite
from phalanx.plan.sizing import Sized
from phalanx.plan.workload import Workload

COPY_BYTES_PER_S = 5 * 1024.0**3
"""Copying state out of a device, when nobody measured it: about what one CPU core copies."""
STALL_S = 2.0
"""Stall of a checkpoint when neither it nor the size of the state is known."""
SPOT_MEAN_S = (5700.0, 86400.0)
"""Mean life of one Spot node: a bad recorded day of p3 (16 nodes lost a member every 356 s), and
one loss a day. Types and zones differ by more than that."""
FACTOR = 2.0
"""The interval is given with this factor to both sides: the optimum is flat, a factor 2 costs a
quarter of the optimal overhead."""


@dataclass(frozen=True)
class Saving:
    """When to save. All in seconds; `mean_s` is the mean time between losses of the gang."""

    interval_s: float
    low_s: float
    high_s: float
    young_s: float
    daly_s: float
    stall_s: float
    mean_s: float
    overhead: float
    """Share of the time that checkpoints and losses take at the interval, first order."""
    assumptions: tuple[str, ...]
    sources: tuple[Source, ...]
    advice: tuple[str, ...]


def saving(workload: Workload, sized: Sized, choice: str) -> Saving | None:
    """The interval of a training; None for anything else. `choice` is the decision D3."""
    if not workload.trains:
        return None
    stall, stall_said = _stall(workload, sized)
    mean, mean_said = _mean(workload, sized, choice)
    losses = workload.losses
    best = interval.announced(stall, mean, losses.announced)
    return Saving(
        interval_s=best,
        low_s=best / FACTOR,
        high_s=best * FACTOR,
        young_s=interval.young(stall, mean),
        daly_s=interval.daly(stall, mean),
        stall_s=stall,
        mean_s=mean,
        overhead=interval.overhead(best, stall, mean, losses.restart_s + losses.lag_s),
        assumptions=(stall_said, mean_said),
        sources=cite(
            "plan.interval", "plan.losses", *(("spot.notice-s",) if _spot(choice) else ())
        ),
        advice=_advice(workload, best, choice),
    )


def _spot(choice: str) -> bool:
    return choice in ("spot-group", "managed-instances-spot")


def _stall(workload: Workload, sized: Sized) -> tuple[float, str]:
    said = workload.losses.stall_s
    if said is not None:
        return said, f"A checkpoint stops training for {said:g} s, as given."
    if sized.fit is None:
        return STALL_S, f"A checkpoint is taken to stop training for {STALL_S:g} s; measure it."
    kept = sized.fit.state.parameters + sized.fit.state.optimizer
    stall = max(0.1, kept / COPY_BYTES_PER_S)
    return stall, (
        f"A checkpoint is taken to stop training for {stall:.1f} s: {kept / 1024**3:.1f} GiB of "
        "each rank copied at 5 GiB/s; measure it."
    )


def _mean(workload: Workload, sized: Sized, choice: str) -> tuple[float, str]:
    nodes = sized.nodes
    rate = workload.losses.per_1000_node_days
    if rate is not None:
        mean = interval.gang_mean_s(rate, nodes)
        return mean, f"{rate:g} losses in 1,000 node-days, as given; {nodes} nodes."
    if _spot(choice):
        low, high = (mean / nodes for mean in SPOT_MEAN_S)
        mean = (low * high) ** 0.5
        return mean, (
            f"The life of a Spot node is taken between {SPOT_MEAN_S[0] / 3600:.1f} and 24 hours "
            f"(a bad recorded day, and one loss a day), so {nodes} nodes lose a member every "
            f"{low / 60:.0f} to {high / 60:.0f} minutes; give losses.per_1000_node_days once you "
            "know it."
        )
    published: float = rows()["plan.losses"].value["per_1000_node_days"]
    mean = interval.gang_mean_s(published, nodes)
    return mean, (
        f"{published:g} losses in 1,000 node-days are taken from one published run; {nodes} "
        f"node{'s' if nodes > 1 else ''}."
    )


def _advice(workload: Workload, best: float, choice: str) -> tuple[str, ...]:
    lines = ["Let `checkpoint.every: auto` follow what is measured; a fixed rule fits no size."]
    fixed = workload.losses.fixed_every_s
    if fixed is not None and not best / FACTOR <= fixed <= best * FACTOR:
        lines.append(
            f"The job file saves every {fixed:g} s, more than a factor 2 away from {best:.0f} s."
        )
    if _spot(choice):
        lines.append("Save once more at the two-minute notice: an announced loss costs a stall.")
    if choice == "capacity-block":
        lines.append("Save more than 30 minutes before the block ends.")
    return tuple(lines)
