"""The nine guardrails as checks of a plan, and the findings that a plan ends with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from phalanx.plan.decisions.boundary import Route
from phalanx.plan.decisions.capacity import no_block, no_spot, vcpus_needed
from phalanx.plan.decisions.decision import Source, cite
from phalanx.plan.decisions.host import MANAGED
from phalanx.plan.saving import FACTOR, Saving
from phalanx.plan.sharing import no_part, not_shared
from phalanx.plan.sizing import Sized
from phalanx.plan.workload import Workload


@dataclass(frozen=True)
class Chosen:
    """What the decisions came to."""

    host: str
    vendor: str
    capacity: str
    shape: str
    route: Route | None


@dataclass(frozen=True)
class Guardrail:
    """One guardrail; `state` is `kept`, `not-applicable` or `open`."""

    id: str
    what: str
    state: str
    because: str


@dataclass(frozen=True)
class Finding:
    """Something that the reader must act on. `where` is a path in the given files."""

    slug: str
    severity: str
    where: str
    message: str
    fix: str
    sources: tuple[Source, ...]


def guardrails(
    workload: Workload, sized: Sized, chosen: Chosen, missing: int
) -> tuple[Guardrail, ...]:
    """GR1 to GR9; `missing` items of the security baseline are not in place."""
    gang = workload.trains and sized.nodes > 1 and chosen.vendor != "none"
    spot = chosen.capacity in ("spot-group", "managed-instances-spot", "fargate-spot")
    hosts = chosen.host in ("ecs-on-ec2", MANAGED)
    rows = (
        (
            "GR1",
            "no accelerator on Fargate",
            not workload.devices.is_cpu or chosen.host == "none",
            f"host is {chosen.host}",
        ),
        ("GR2", "one homogeneous group for each instance type", hosts, "no group mixes types"),
        (
            "GR3",
            "no MIG or time slicing on native ECS",
            workload.use == "development" or workload.sharing != "none",
            f"shape is {chosen.shape}",
        ),
        ("GR4", "Neuron models compiled ahead", chosen.vendor == "neuron", "see D2"),
        ("GR5", "several nodes: EFA, cluster placement group, one zone", gang, "see capacity"),
        (
            "GR6",
            "Spot only with resume, never for latency",
            spot or workload.run.market == "spot",
            f"capacity is {chosen.capacity}",
        ),
        ("GR8", "no point estimate of cost", True, "a range, or none"),
        ("GR9", "figures are cited", True, "every figure comes from the tables, with its source"),
    )
    made = [
        Guardrail(id, what, "kept" if applies else "not-applicable", why if applies else "")
        for id, what, applies, why in rows
    ]
    left = f"{missing} items are not in place" if missing else "all items are in place or stated"
    security = Guardrail(
        "GR7", "the security baseline is never skipped", "open" if missing else "kept", left
    )
    return (*made[:6], security, *made[6:])


def findings(
    workload: Workload, sized: Sized, chosen: Chosen, kept: Saving | None
) -> tuple[Finding, ...]:
    """Everything to act on, the worst first."""
    found = [
        *_sizes(workload, sized),
        *_quota(workload, sized),
        *_market(workload, chosen),
        *_block(workload, sized, chosen),
        *_sharing(workload, sized, chosen),
        *_wishes(workload, chosen),
        *_interval(workload, kept),
    ]
    order = {"error": 0, "warning": 1, "info": 2}
    return tuple(sorted(found, key=lambda finding: order[finding.severity]))


def _sizes(workload: Workload, sized: Sized) -> Iterator[Finding]:
    if sized.problem:
        yield Finding(
            "model-does-not-fit",
            "error",
            "accelerator",
            sized.problem + ".",
            "take a larger type, a lower precision, shorter sequences or less concurrency"
            if workload.use == "inference"
            else "take more nodes or larger devices, a smaller micro batch, or LoRA",
            cite("plan.right-size"),
        )
    elif not workload.model.is_sized and not workload.devices.is_cpu:
        yield Finding(
            "model-size-unknown",
            "info",
            "model.parameters",
            "Memory, parallelism and type cannot be judged without the number of parameters.",
            "write a workload file with model: {parameters: 7B}",
            cite("plan.right-size"),
        )


def _quota(workload: Workload, sized: Sized) -> Iterator[Finding]:
    need = vcpus_needed(workload, sized)
    if workload.quota_vcpus is not None and need > workload.quota_vcpus:
        yield Finding(
            "quota-too-small",
            "error",
            "quota.vcpus",
            f"The quota is {workload.quota_vcpus} vCPUs; the plan needs {need}.",
            "ask for the raise before anything else; it can take days",
            cite("plan.quota-per-family", "plan.quota-codes"),
        )


def _market(workload: Workload, chosen: Chosen) -> Iterator[Finding]:
    if workload.run.market != "spot":
        return
    if workload.use == "inference" and workload.serving.latency_s is not None:
        yield Finding(
            "spot-for-latency",
            "error",
            "run.market",
            "Spot is asked for, and a latency is promised: the plan does not use Spot.",
            "take a reservation, or drop the promise",
            cite("plan.spot-policy"),
        )
    elif workload.trains and not workload.run.resumes:
        yield Finding(
            "spot-without-resume",
            "error",
            "run.resumes",
            "Spot without resume starts over at every interruption: the plan does not use Spot.",
            "commit checkpoints and resume from them",
            cite("plan.spot-policy"),
        )
    elif (why := no_spot(workload)) and chosen.host != "none":
        yield Finding(
            "spot-not-used",
            "warning",
            "run.market",
            f"Spot is asked for and not used: {why}.",
            "say serving: {traffic: batch} if interruptions are borne",
            cite("plan.spot-policy"),
        )


def _block(workload: Workload, sized: Sized, chosen: Chosen) -> Iterator[Finding]:
    why = no_block(workload, sized)
    asked = workload.run.market == "capacity_block" and chosen.host in ("ecs-on-ec2", MANAGED)
    if asked and why:
        yield Finding(
            "capacity-block-not-used",
            "warning",
            "run.market",
            f"A Capacity Block is asked for and not used: {why}.",
            "cut a run that resumes into parts that fit a block, or take the reservation of D3",
            cite("plan.block-duration"),
        )


def _sharing(workload: Workload, sized: Sized, chosen: Chosen) -> Iterator[Finding]:
    if chosen.host == "none":
        return
    if why := not_shared(workload):
        yield Finding(
            "sharing-not-used",
            "warning",
            "sharing.wish",
            f"Sharing a GPU is asked for and not used: {why}.",
            "give each replica and each tenant a GPU of its own, or a part by wish: fractional",
            cite("plan.mps", "plan.gpu-isolation"),
        )
    part = sized.instance is not None and sized.instance.is_fractional
    if workload.sharing == "fractional" and not part and not workload.devices.is_cpu:
        yield Finding(
            "no-part-of-a-gpu",
            "info",
            "sharing.wish",
            "A part of a GPU is asked for and not used: "
            f"{no_part(workload, chosen.vendor, chosen.host)}.",
            "see what D2 rejects, and what would change it",
            cite("plan.fractional"),
        )


def _wishes(workload: Workload, chosen: Chosen) -> Iterator[Finding]:
    if workload.team.platform == "managed_instances" and chosen.host == "ecs-on-ec2":
        yield Finding(
            "not-on-managed-instances",
            "warning",
            "team.platform",
            "The team runs Managed Instances; this workload belongs on EC2 (see D1).",
            "give it a scaling group and provider of its own, beside the Managed Instances",
            cite("plan.mi-choice", "mi.drain-starts-days"),
        )
    if chosen.vendor == "neuron" and workload.devices.neuron_supported is None:
        yield Finding(
            "neuron-support-unknown",
            "warning",
            "accelerator.neuron_supported",
            "Whether the Neuron SDK supports the model is not said.",
            "look the model up before anything is ported",
            cite("plan.neuron-support"),
        )
    if workload.sharing in ("mig", "time_slicing"):
        yield Finding(
            "partitioned-gpu",
            "warning",
            "sharing.wish",
            "Native ECS has no scheduler for MIG or time slicing.",
            "use EKS, or native MPS sharing where faults may be shared",
            cite("plan.no-mig"),
        )


def _interval(workload: Workload, kept: Saving | None) -> Iterator[Finding]:
    fixed = workload.losses.fixed_every_s
    if kept is None or fixed is None:
        return
    if not kept.interval_s / FACTOR <= fixed <= kept.interval_s * FACTOR:
        yield Finding(
            "interval-far-off",
            "info",
            "checkpoint.every",
            f"The file saves every {fixed:g} s; {kept.interval_s:.0f} s is the optimum for what is "
            "assumed here.",
            "write every: auto, or measure stall and losses",
            cite("plan.interval"),
        )
