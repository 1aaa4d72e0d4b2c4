"""A plan as one JSON object, `phalanx.plan/1`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from phalanx.facts.rows import rows
from phalanx.plan.baseline import duties
from phalanx.plan.decisions.capacity import block_sizes, quota_code, vcpus_needed
from phalanx.plan.decisions.decision import Source, cite, cite_type
from phalanx.plan.design import Design
from phalanx.plan.parallelism import Fit

SCHEMA = "phalanx.plan/1"


def view(made: Design) -> dict[str, Any]:
    """The object; `parallelism`, `checkpoint`, `cost` and `route_out` are null where none."""
    return {
        "schema": SCHEMA,
        "name": made.workload.name,
        "use": made.workload.use,
        "assumptions": list(made.workload.assumptions),
        "decisions": [asdict(decision) for decision in made.decisions],
        "parallelism": parallelism(made),
        "capacity": capacity(made),
        "checkpoint": checkpoint(made),
        "storage": [asdict(item) for item in made.storage],
        "security": [asdict(item) for item in made.security],
        "compliance": [
            {"regime": regime, "what": what, "sources": _plain(sources)}
            for regime, what, sources in duties(made.workload)
        ],
        "observability": [asdict(item) for item in made.observability],
        "cost": _cost(made),
        "cost_basis": asdict(made.basis),
        "levers": [asdict(lever) for lever in made.levers],
        "guardrails": [asdict(rail) for rail in made.guardrails],
        "findings": [asdict(finding) for finding in made.findings],
        "route_out": _route(made),
    }


def parallelism(made: Design) -> dict[str, Any] | None:
    """The form of parallelism and what one GPU holds; None when nothing is trained or sized."""
    sized, model = made.sized, made.workload.model
    if not made.workload.trains or not sized.forms or sized.instance is None:
        return None
    return {
        "choice": sized.fit.name if sized.fit else None,
        "gpus": sized.devices,
        "nodes": sized.nodes,
        "model": {
            "parameters": model.parameters,
            "layers": model.layers,
            "hidden": model.hidden,
            "precision": model.precision,
            "optimizer": model.optimizer,
            "tuning": model.tuning,
            "sequence": model.sequence,
            "micro_batch": model.micro_batch,
        },
        "device_mib": sized.instance.device_memory_mib,
        "usable_share": 0.9,
        "considered": [_fit(fit) for fit in sized.forms],
        "sources": _plain(
            (
                cite_type(sized.instance),
                *cite("plan.memory-zero", "plan.memory-fsdp", "plan.memory-activations"),
            )
        ),
    }


def _fit(fit: Fit) -> dict[str, Any]:
    return {
        "form": fit.name,
        "strategy": fit.strategy,
        "data": fit.data,
        "tensor": fit.tensor,
        "pipeline": fit.pipeline,
        "activation_checkpointing": fit.recompute,
        "parameters_bytes": int(fit.state.parameters),
        "gradients_bytes": int(fit.state.gradients),
        "optimizer_bytes": int(fit.state.optimizer),
        "buffers_bytes": int(fit.buffers),
        "activations_bytes": None if fit.activations is None else int(fit.activations),
        "total_bytes": int(fit.total),
        "fits": fit.fits,
    }


def capacity(made: Design) -> dict[str, Any]:
    """Groups, strategy, quota and steps of the capacity."""
    chosen, sized, workload = made.chosen, made.sized, made.workload
    groups, strategy = [], []
    if sized.instance and chosen.host in ("ecs-on-ec2", "managed-instances"):
        name = f"{sized.instance.family}-{chosen.capacity}"
        gang = workload.trains and sized.nodes > 1
        block = chosen.capacity == "capacity-block"
        sizes = block_sizes(sized) if block else (_instances(made)[1],)
        for number, most in enumerate(sizes, start=1):
            one = name if len(sizes) == 1 else f"{name}-{number}"
            groups.append(
                {
                    "name": one,
                    "instance_type": sized.instance.name,
                    "min": 0 if workload.use != "inference" else _instances(made)[0],
                    "max": most,
                    "zones": "one" if gang or block else "several",
                    "placement_group": "cluster" if gang and not block else None,
                    "efa_interfaces": sized.instance.efa if gang else 0,
                }
            )
            weight = 1 if len(sizes) == 1 else most
            strategy.append({"capacityProvider": one, "base": 0, "weight": weight})
    return {
        "choice": chosen.capacity,
        "groups": groups,
        "strategy": strategy,
        "quota": _quota(made),
        "steps": steps(made),
    }


def _instances(made: Design) -> tuple[int, int]:
    sized = made.sized
    if made.workload.use != "inference" or sized.instance is None:
        return sized.nodes, sized.nodes
    each = max(1, sized.instance.count // max(sized.devices, 1))
    low, high = made.workload.serving.replicas
    return -(-low // each), -(-high // each)


def _quota(made: Design) -> dict[str, Any] | None:
    if made.sized.instance is None:
        return None
    return {
        "family": made.sized.instance.family,
        "code": quota_code(made.sized, made.chosen.capacity) or None,
        "vcpus_needed": vcpus_needed(made.workload, made.sized),
        "vcpus_allowed": made.workload.quota_vcpus,
    }


def steps(made: Design) -> list[str]:
    """What to do, in order; the quota is step zero."""
    sized, chosen = made.sized, made.chosen
    if sized.instance is None or chosen.host not in ("ecs-on-ec2", "managed-instances"):
        return []
    code = quota_code(sized, chosen.capacity)
    where = f" ({code})" if code else " (look its code up by name; it is not confirmed here)"
    need = vcpus_needed(made.workload, sized)
    lines = [f"0. Quota{where}: at least {need} vCPUs for {sized.instance.family}."]
    if chosen.capacity == "capacity-block":
        weeks = rows()["plan.block-duration"].value["start_weeks"]
        lines.append(f"1. Look for Capacity Block offerings; a block starts within {weeks} weeks.")
        lines.append("2. Launch template with the block's id and market type, subnet of its zone.")
    elif chosen.capacity in ("on-demand-reservation", "managed-instances-reserved"):
        lines.append("1. Make the reservation, and its resource group where one is needed.")
    elif chosen.capacity in ("spot-group", "managed-instances-spot"):
        lines.append("1. Ask for the Spot placement score of the type in your zones.")
    if chosen.capacity == "capacity-block" and len(block_sizes(sized)) > 1:
        lines.append(
            "Then for each block a launch template, scaling group and capacity provider of its "
            "own. Start each block's tasks with its provider alone, or blend the providers by "
            "weight: a group cannot grow past its block."
        )
    elif chosen.host == "ecs-on-ec2":
        lines.append("Then one scaling group, one capacity provider, and tasks with a strategy.")
    else:
        lines.append(
            "Then a Managed Instances provider with vCpuCount, memoryMiB and "
            f"allowedInstanceTypes [{sized.instance.name}]; tasks with a strategy, no launchType."
        )
    return lines


def checkpoint(made: Design) -> dict[str, Any] | None:
    """The interval between checkpoints, in seconds; None when nothing is trained."""
    kept = made.saving
    if kept is None:
        return None
    return {
        "interval_s": _short(kept.interval_s),
        "low_s": _short(kept.low_s),
        "high_s": _short(kept.high_s),
        "young_s": _short(kept.young_s),
        "daly_s": _short(kept.daly_s),
        "stall_s": _short(kept.stall_s),
        "mean_between_losses_s": _short(kept.mean_s),
        "overhead_share": float(f"{kept.overhead:.3g}"),
        "assumptions": list(kept.assumptions),
        "advice": list(kept.advice),
        "sources": _plain(kept.sources),
    }


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _cost(made: Design) -> dict[str, Any] | None:
    if made.cost is None:
        return None
    return {
        "low": made.cost.low,
        "high": made.cost.high,
        "currency": made.cost.currency,
        "basis": made.cost.basis,
        "period": made.cost.period,
        "drivers": list(made.basis.drivers),
    }


def _route(made: Design) -> dict[str, Any] | None:
    if made.route is None:
        return None
    return {"to": made.route.to, "because": list(made.route.because)}


def _plain(sources: Sequence[Source]) -> list[dict[str, Any]]:
    return [asdict(source) for source in sources]
