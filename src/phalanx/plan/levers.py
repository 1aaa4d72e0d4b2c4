"""Levers of cost in their order; directions with conditions, never figures."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx.plan.decisions.capacity import no_block, no_spot
from phalanx.plan.decisions.decision import Source, cite
from phalanx.plan.sizing import Sized
from phalanx.plan.workload import Workload


@dataclass(frozen=True)
class Lever:
    """One lever; `applies` is `yes`, `in use` or `no`."""

    order: int
    lever: str
    applies: str
    because: str
    sources: tuple[Source, ...]


def levers(workload: Workload, sized: Sized, vendor: str, capacity: str) -> tuple[Lever, ...]:
    """All six, in the order in which they are tried; without an accelerator those that remain."""
    if workload.devices.is_cpu and workload.team.self_host:
        return _without(workload, capacity)
    found = (
        ("Capacity Blocks for planned runs", *_blocks(workload, sized, capacity)),
        ("Neuron where the model is supported", *_neuron(workload, vendor)),
        ("Spot with checkpoint and resume", *_spot(workload, capacity)),
        ("the right size of GPU", *_size(workload, sized)),
        ("scaling in when it is quiet", *_scale_in(workload)),
        ("sharing GPUs for development", *_share(workload)),
    )
    facts = (
        ("plan.block-assurance",),
        ("plan.neuron-support",),
        ("plan.spot-policy",),
        ("plan.right-size",),
        ("plan.scale-in",),
        ("plan.mps", "plan.gpu-isolation"),
    )
    return tuple(
        Lever(order, *lever, cite(*ids))
        for order, (lever, ids) in enumerate(zip(found, facts, strict=True), start=1)
    )


def _without(workload: Workload, capacity: str) -> tuple[Lever, ...]:
    size = "measure CPU and memory, then take the smallest task that holds them"
    quiet = "no task runs when nothing is asked for, or a schedule for office hours"
    if workload.trains:
        quiet = "the tasks end with the run"
    found = (
        ("Spot with checkpoint and resume", *_spot(workload, capacity), "plan.spot-policy"),
        ("the right size of task", "yes", size, "plan.no-accelerator"),
        ("scaling in when it is quiet", "yes", quiet, "plan.scale-in"),
    )
    return tuple(
        Lever(order, lever, applies, because, cite(fact))
        for order, (lever, applies, because, fact) in enumerate(found, start=1)
    )


_Said = tuple[str, str]
"""(applies, because)."""


def _blocks(workload: Workload, sized: Sized, capacity: str) -> _Said:
    if capacity == "capacity-block":
        return "in use", "certainty for the dates, not a discount"
    if without := no_block(workload, sized):
        return "no", without
    return "yes", "if the dates are known ahead; certainty, not a discount"


def _neuron(workload: Workload, vendor: str) -> _Said:
    if vendor == "neuron":
        return "in use", "after 1 to 2 weeks of porting"
    if vendor == "none" or workload.devices.neuron_supported is False:
        return "no", "nothing to move, or the SDK does not support the model"
    if workload.use == "development":
        return "no", "development wants CUDA's breadth"
    return "yes", "if the model is on the Neuron list; count 1 to 2 weeks for the first one"


def _spot(workload: Workload, capacity: str) -> _Said:
    if capacity in ("spot-group", "managed-instances-spot", "fargate-spot"):
        kept = "with committed checkpoints" if workload.trains else "for work that can be redone"
        return "in use", kept
    if workload.use == "inference" and no_spot(workload):
        return "no", "never where somebody waits for the answer"
    if workload.trains and not workload.run.resumes:
        return "no", "the run does not resume: every interruption would start it over"
    if capacity == "capacity-block":
        return "no", "the block is taken already"
    if workload.devices.is_cpu:
        return "yes", "if interruptions are borne"
    return "yes", "if interruptions are borne; large P types are often not to be had"


def _size(workload: Workload, sized: Sized) -> _Said:
    if sized.problem:
        return "no", "nothing that is asked for holds the model: see what to act on"
    if sized.instance is None:
        return "no", "there is nothing to size yet"
    if workload.model.is_sized:
        return "in use", f"{sized.instance.name} has the least memory that fits; measure its use"
    return "yes", "say the model's size, then watch for GPUs used less than half"


def _scale_in(workload: Workload) -> _Said:
    if workload.trains:
        return "yes", "the group goes back to zero when the run ends"
    return "yes", "a floor of 0 for development, a schedule for office hours, about 15 minutes' lag"


def _share(workload: Workload) -> _Said:
    if workload.use != "development":
        return "no", "for development, not for production"
    if workload.tenants == "many":
        return "no", "never across tenants"
    return "yes", "native MPS between tasks that trust each other"
