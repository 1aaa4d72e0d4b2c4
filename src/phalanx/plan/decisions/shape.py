"""D4: the shape of the workload."""

from __future__ import annotations

from phalanx.plan.decisions.decision import Decision, Rejected, cite
from phalanx.plan.sharing import not_shared
from phalanx.plan.sizing import Sized
from phalanx.plan.workload import Workload

QUESTION = "Which shape does the workload have?"
SHAPES = {
    "single-container-inference": "one container serves one replica of the model",
    "distributed-training": "one task on each node, started and recovered as one gang",
    "single-node-training": "one task holds every device of one node",
    "gpu-shared-dev": "several trusted tasks share one GPU",
    "dedicated-dev": "each task holds whole GPUs",
}


def shape_of(workload: Workload, sized: Sized) -> str:
    """The shape's name."""
    if workload.use == "inference":
        return "single-container-inference"
    if workload.use == "development":
        if workload.devices.is_cpu:
            return "dedicated-dev"
        idle = workload.run.utilisation is not None and workload.run.utilisation < 0.5
        alone = workload.tenants == "many"
        shares = workload.sharing != "none" or idle
        return "gpu-shared-dev" if shares and not alone else "dedicated-dev"
    return "distributed-training" if sized.nodes > 1 else "single-node-training"


def decide(workload: Workload, sized: Sized) -> Decision:
    """The decision with its reasons."""
    choice = shape_of(workload, sized)
    cpu = workload.devices.is_cpu
    reasons, ids, change = (_cpu if cpu else _why)(choice, workload, sized)
    words = {**SHAPES, **_ON_CPU} if cpu else SHAPES
    return Decision(
        "D4",
        QUESTION,
        choice,
        (f"{words[choice].capitalize()}.", *reasons),
        tuple(Rejected(name, _not(name, workload, sized)) for name in SHAPES if name != choice),
        cite(*ids),
        change,
    )


_Why = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""(reasons, facts, what would change it)."""


def _why(choice: str, workload: Workload, sized: Sized) -> _Why:
    if choice == "single-container-inference":
        return _inference(workload, sized)
    if choice == "distributed-training":
        return (
            (
                f"{sized.nodes} nodes train one model: all ranks start, or none hold devices.",
                "Collectives need EFA and a cluster placement group in one zone; else they fall "
                "to TCP.",
            ),
            ("plan.gang", "plan.efa-one-zone"),
            ("the model and its batch fit one node",),
        )
    if choice == "single-node-training":
        return (
            ("Ranks talk inside the node: no EFA, no placement group, one task to lose.",),
            ("plan.stay", "plan.gang"),
            ("one node is too slow or too small, so that several must work as a gang",),
        )
    return _development(choice, workload)


_ON_CPU = {
    "distributed-training": "one task for each rank group, started and recovered as one gang",
    "single-node-training": "one task holds the whole run",
    "dedicated-dev": "each task holds its own vCPUs and memory",
}
"""Words of the shapes where there is no accelerator."""


def _cpu(choice: str, workload: Workload, sized: Sized) -> _Why:
    if choice == "single-container-inference":
        low, high = workload.serving.replicas
        count = f"{low} to {high} replicas, each one task" if high > 1 else "One task"
        reasons = [
            f"{count} behind a load balancer.",
            "The health check's grace period is set to the model's load time.",
        ]
        ids = ["plan.grace-period", "plan.no-accelerator"]
        if workload.serving.traffic in ("bursty", "office_hours") or high > low:
            reasons.append("Scaling follows requests or CPU.")
        return tuple(reasons), tuple(ids), ("one replica needs more than one task holds",)
    if choice == "distributed-training":
        said = f"{sized.nodes} nodes train one model over TCP: all ranks start, or none."
        return (said,), ("plan.gang",), ("the model and its batch fit one task",)
    change = ("the work needs an accelerator, or more than one task holds",)
    return (), ("plan.no-accelerator",), change


def _inference(workload: Workload, sized: Sized) -> _Why:
    part = sized.instance is not None and sized.instance.is_fractional
    held = "the part of a GPU that its instance has" if part else "whole GPUs"
    low, high = workload.serving.replicas
    reasons = [
        f"{low} to {high} replicas, each one task with {held} behind a load balancer."
        if high > 1
        else f"One task with {held} behind a load balancer.",
        "The health check's grace period is set to the model's load time.",
        "Deployments need up to twice the GPUs while they last: reserve them, or lower "
        "maximumPercent.",
    ]
    ids = ["plan.grace-period", "plan.deploy-surge"]
    if workload.serving.traffic in ("bursty", "office_hours") or high > low:
        reasons.append(
            "Scaling follows requests in flight or GPU load, not CPU; a new node takes minutes, "
            "so headroom (targetCapacity below 100) or a warm pool carries a burst."
        )
        ids += ["plan.scale-on-gpu-load", "plan.scale-in"]
    return tuple(reasons), tuple(ids), ("one replica needs more than one instance holds",)


def _development(choice: str, workload: Workload) -> _Why:
    if choice == "gpu-shared-dev":
        return (
            (
                "Native MPS sharing gives every container its own amount of GPU memory; its "
                "sharers trust each other, because a fault of one reaches all.",
                "A workload that runs several CUDA processes, or needs GPU metrics of its own, "
                "keeps a whole GPU.",
            ),
            ("plan.mps", "plan.gpu-isolation", "plan.fractional"),
            ("the sharers are different tenants, or it becomes production",),
        )
    apart = "Sharers of different tenants are never put on one GPU." * (workload.tenants == "many")
    reasons = ("Whole GPUs are what ECS gives a container unless told otherwise.", apart)
    return (
        tuple(reason for reason in reasons if reason),
        ("plan.gpu-isolation", "plan.mps"),
        ("the GPUs stand idle more than half of the time and all sharers trust each other",),
    )


def _not(name: str, workload: Workload, sized: Sized) -> str:
    if name == "single-container-inference":
        return f"the workload is {workload.use}"
    if name in ("distributed-training", "single-node-training"):
        if workload.use != "training":
            return f"the workload is {workload.use}"
        return f"the run has {sized.nodes} node{'s' if sized.nodes > 1 else ''}"
    if workload.devices.is_cpu:
        if workload.use != "development":
            return f"the workload is {workload.use}"
        return "there is no GPU to share"
    if name == "gpu-shared-dev" and (why := not_shared(workload)):
        return why
    if workload.use != "development":
        return f"the workload is {workload.use}; GPUs of production are not shared"
    if name == "gpu-shared-dev":
        many = workload.tenants == "many"
        return "the sharers are different tenants" if many else "nobody asked to share"
    return "sharing is wished for, or the GPUs stand idle more than half of the time"
