"""A whole plan: five decisions, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from phalanx.plan.advice import Advice, observability, storage
from phalanx.plan.baseline import Item, baseline
from phalanx.plan.cost import Basis, Cost, cost
from phalanx.plan.decisions import accelerator, boundary, capacity, host, shape
from phalanx.plan.decisions.boundary import Route
from phalanx.plan.decisions.decision import Decision
from phalanx.plan.guardrails import Chosen, Finding, Guardrail, findings, guardrails
from phalanx.plan.levers import Lever, levers
from phalanx.plan.saving import Saving, saving
from phalanx.plan.sizing import Sized, size
from phalanx.plan.workload import DeviceNeed, Workload


@dataclass(frozen=True)
class Design:
    """Everything that a plan says; `phalanx.plan.view` and `phalanx.plan.page` print it."""

    workload: Workload
    sized: Sized
    chosen: Chosen
    decisions: tuple[Decision, ...]
    saving: Saving | None
    storage: tuple[Advice, ...]
    security: tuple[Item, ...]
    observability: tuple[Advice, ...]
    cost: Cost | None
    basis: Basis
    levers: tuple[Lever, ...]
    guardrails: tuple[Guardrail, ...]
    findings: tuple[Finding, ...]

    @property
    def route(self) -> Route | None:
        """Where the workload is better off; None: on ECS."""
        return self.chosen.route


def design(asked: Workload) -> Design:
    """The plan of a workload."""
    workload, found, sized, vendor = _sized(asked)
    api = found is not None and found.to in ("bedrock", "fargate+bedrock")
    where = host.NONE if api else host.host_of(workload, sized)
    source = capacity.choose(workload, sized, where)
    kept = saving(workload, sized, source.choice)
    chosen = Chosen(where, vendor, source.choice, shape.shape_of(workload, sized), found)
    security = baseline(workload, where)
    money, basis = cost(workload, sized, kept)
    missing = sum(item.state == "missing" for item in security)
    return Design(
        workload=workload,
        sized=sized,
        chosen=chosen,
        decisions=(
            host.decide(workload, sized, where),
            accelerator.decide(workload, vendor, sized, where),
            capacity.decide(workload, sized, where, source),
            shape.decide(workload, sized),
            boundary.decide(workload, found, sized),
        ),
        saving=kept,
        storage=storage(workload, sized, where),
        security=security,
        observability=observability(workload, where, vendor),
        cost=money,
        basis=basis,
        levers=levers(workload, sized, vendor, source.choice),
        guardrails=guardrails(workload, sized, chosen, missing),
        findings=findings(workload, sized, chosen, kept),
    )


def _sized(asked: Workload) -> tuple[Workload, Route | None, Sized, str]:
    """The workload, its way out, its hardware and its vendor; a model API needs no hardware."""
    vendor = accelerator.vendor_of(asked)
    sized = _hardware(asked, vendor)
    found = boundary.route(asked, sized)
    if found and found.to in ("bedrock", "fargate+bedrock"):
        asked = replace(asked, devices=DeviceNeed(is_cpu=True))
        return asked, found, Sized(), "none"
    return asked, found, sized, vendor


def _hardware(workload: Workload, vendor: str) -> Sized:
    own = workload.devices.own
    if own and workload.devices.count <= own and not workload.devices.type:
        # Nothing is known of GPUs on site but their number.
        nodes = max(workload.run.nodes, 1)
        return Sized(nodes=nodes, devices=workload.devices.count or own)
    sized = size(workload, vendor if vendor != "none" else "nvidia")
    part = sized.instance is not None and sized.instance.is_fractional
    if part and not workload.devices.type and host.host_of(workload, sized) != host.MANAGED:
        # Parts of a GPU stand on Managed Instances only.
        return size(replace(workload, sharing="none"), vendor)
    return sized
