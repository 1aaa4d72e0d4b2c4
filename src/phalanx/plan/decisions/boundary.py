"""D5: stay on ECS, or go where the workload is better off. The first route that fits is taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from phalanx.plan.decisions.decision import Decision, Rejected, cite
from phalanx.plan.sizing import NODES_MOST, Sized
from phalanx.plan.workload import Workload

QUESTION = "Stay on ECS, or route elsewhere?"
STAY = "stay-on-ecs"
_KUBERNETES = {
    "operators": "Kubernetes operators or CRDs",
    "karpenter": "Karpenter",
    "kuberay": "KubeRay",
    "kserve": "KServe",
    "gang_queue": "a gang queue for many tenants (Kueue, Volcano)",
}
_QUEUES = {
    "job_queue": "a job queue with priorities",
    "fair_share": "fair share between teams",
    "array_jobs": "array jobs",
}
_MANAGED = {
    "managed_training": "managed training jobs",
    "managed_endpoints": "managed endpoints",
    "hyperpod": "HyperPod",
    "experiment_tracking": "managed experiment tracking",
}
_ELSEWHERE = ("eks", "sagemaker", "bedrock", "batch", "fargate+bedrock")


@dataclass(frozen=True)
class Route:
    """A way out: where to, why, and on which facts it rests."""

    to: str
    because: tuple[str, ...]
    facts: tuple[str, ...]
    would_change_if: str


def route(workload: Workload, sized: Sized) -> Route | None:
    """The first route that fits; None stays on ECS."""
    for fits in ROUTES:
        found = fits(workload, sized)
        if found:
            return found
    return None


def decide(workload: Workload, found: Route | None, sized: Sized) -> Decision:
    """The decision with its reasons."""
    if found is None:
        return _stay(workload, sized)
    rejected = [Rejected(STAY, found.because[0].rstrip("."))]
    rejected += [Rejected(to, _NOT[to]) for to in _ELSEWHERE if to != found.to]
    return Decision(
        "D5",
        QUESTION,
        found.to,
        found.because,
        tuple(rejected),
        cite(*found.facts),
        (found.would_change_if,),
    )


def _stay(workload: Workload, sized: Sized) -> Decision:
    api = "a model API" if workload.devices.is_cpu else "a model API in place of GPUs"
    reasons = [
        f"Nothing asked for needs Kubernetes, a managed training or hosting platform, or {api}."
    ]
    facts = ["plan.stay", "plan.to-eks", "plan.to-sagemaker", "plan.to-bedrock", "plan.to-batch"]
    if workload.trains and sized.nodes > 1:
        reasons.append(
            "ECS has no job primitive of its own for several nodes; phalanx starts, supervises "
            "and recovers the gang."
        )
        facts += ["plan.gang", "plan.batch-mnp-limits"]
    if sized.instance is None and workload.devices.is_cpu:
        reasons.append("Without an accelerator the ordinary guidance for ECS applies.")
        facts.append("plan.no-accelerator")
    rejected = tuple(Rejected(to, _not(to, workload)) for to in _ELSEWHERE)
    return Decision("D5", QUESTION, STAY, tuple(reasons), rejected, cite(*facts), _STAY_UNLESS)


_STAY_UNLESS = (
    "the team runs Kubernetes, or needs MIG, gang queues of many tenants or scale to zero",
    "a managed platform is wanted, or nobody wants to operate containers",
    "a foundation model behind an API is good enough",
)
_NOT = {
    "eks": "nothing asked for needs Kubernetes",
    "sagemaker": "no managed training or hosting is asked for",
    "bedrock": "the model is the workload's own, or GPUs are to be operated",
    "batch": "no queue, priorities or array jobs are asked for",
    "fargate+bedrock": "the workload needs an accelerator of its own, which Fargate never has",
}


def _not(to: str, workload: Workload) -> str:
    if workload.devices.is_cpu and to in ("bedrock", "fargate+bedrock"):
        return "the model is the workload's own"
    return _batch(workload) if to == "batch" else _NOT[to]


def _batch(workload: Workload) -> str:
    if workload.trains and workload.run.market == "spot":
        return "its multi-node jobs do not run on Spot, and a lost child node does not retry them"
    return _NOT["batch"]


def _no_self_hosting(workload: Workload, sized: Sized) -> Route | None:
    if workload.team.self_host:
        return None
    said = "No GPUs are to be operated."
    change = "GPUs may be operated after all"
    if workload.use != "inference":
        managed = (said, "Training of one's own still needs managed training jobs.")
        return Route("sagemaker", managed, ("plan.to-sagemaker", "plan.to-bedrock"), change)
    if workload.serving.own_weights and workload.model.is_sized:
        hosted = (said, "The weights are one's own, so managed endpoints host them.")
        return Route("sagemaker", hosted, ("plan.to-sagemaker", "plan.to-bedrock"), change)
    return _model_api(workload, said, change)


def _model_api(workload: Workload, said: str, change: str) -> Route:
    if workload.team.platform in ("fargate", "ecs", "managed_instances"):
        because = (
            said,
            "The application stays on Fargate, CPU only, and calls a model of Bedrock.",
            "It needs a bedrock-runtime endpoint and bedrock:InvokeModel on its task role.",
        )
        return Route("fargate+bedrock", because, ("plan.to-fargate-bedrock",), change)
    alone = (said, "A foundation model behind an API is enough.")
    return Route("bedrock", alone, ("plan.to-bedrock",), change)


def _fargate_app(workload: Workload, sized: Sized) -> Route | None:
    """An application on Fargate that has no weights of its own."""
    foreign = workload.use == "inference" and not workload.serving.own_weights
    if not foreign or workload.model.is_sized:
        return None
    said = "No weights of one's own are served, and no GPU is needed for calling a model."
    return _model_api(workload, said, "weights of one's own are to be served")


def _kubernetes(workload: Workload, sized: Sized) -> Route | None:
    asked = [text for wish, text in _KUBERNETES.items() if wish in workload.team.wants]
    if workload.team.platform == "kubernetes":
        asked.insert(0, "the team already runs Kubernetes")
    if not asked:
        return None
    because = tuple(f"Asked for or given: {text}; ECS has none of it." for text in asked)
    return Route("eks", because, ("plan.to-eks",), "none of this is needed after all")


def _partitioned(workload: Workload, sized: Sized) -> Route | None:
    if workload.sharing not in ("mig", "time_slicing"):
        return None
    word = {"mig": "MIG partitions", "time_slicing": "time slicing"}[workload.sharing]
    because = (
        f"Native ECS has no scheduler for {word}; EKS has device plugins and DRA for it.",
        "Native MPS sharing limits memory and compute, but does not isolate faults.",
    )
    change = "native MPS sharing between trusted tasks, or fractional G6f types, is enough"
    return Route("eks", because, ("plan.no-mig", "plan.to-eks", "plan.mps"), change)


def _scale_to_zero(workload: Workload, sized: Sized) -> Route | None:
    if not workload.serving.scale_to_zero:
        return None
    because = ("ECS has no scale-to-zero on request; KServe on EKS has.",)
    facts = ("plan.scale-to-zero", "plan.to-eks")
    return Route("eks", because, facts, "a minimum of one replica, or a queue in front, is enough")


def _managed(workload: Workload, sized: Sized) -> Route | None:
    asked = [text for wish, text in _MANAGED.items() if wish in workload.team.wants]
    if workload.team.platform == "sagemaker":
        asked.insert(0, "the team already runs on SageMaker")
    if not workload.team.containers:
        asked.append("nobody operates containers")
    if not asked:
        return None
    because = tuple(f"Asked for or given: {text}." for text in asked)
    return Route("sagemaker", because, ("plan.to-sagemaker",), "the team operates containers")


def _queues(workload: Workload, sized: Sized) -> Route | None:
    asked = [text for wish, text in _QUEUES.items() if wish in workload.team.wants]
    if workload.team.platform == "batch":
        asked.insert(0, "the team already runs AWS Batch")
    spot_gang = workload.run.market == "spot" and sized.nodes > 1
    if not asked or spot_gang:
        return None
    because = tuple(f"Asked for or given: {text}." for text in asked)
    facts = ("plan.to-batch", "plan.batch-mnp-limits")
    change = "jobs of several nodes run on Spot, or must survive the loss of a child node"
    return Route("batch", because, facts, change)


def _too_large(workload: Workload, sized: Sized) -> Route | None:
    if sized.nodes <= NODES_MOST:
        return None
    because = (
        f"{sized.nodes} nodes are more than Capacity Blocks hold ({NODES_MOST}); HyperPod "
        "replaces and watches nodes at that size.",
    )
    facts = ("plan.to-sagemaker", "plan.block-duration")
    return Route("sagemaker", because, facts, "the run fits in at most 256 nodes")


Fits = Callable[[Workload, Sized], "Route | None"]
ROUTES: tuple[Fits, ...] = (
    _no_self_hosting,
    _fargate_app,
    _kubernetes,
    _partitioned,
    _scale_to_zero,
    _managed,
    _queues,
    _too_large,
)
"""Tried in this order."""
