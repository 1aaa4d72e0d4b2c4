"""Storage and observability of a plan: what to use, why, on which page it rests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from phalanx.facts.rows import rows
from phalanx.plan.decisions.decision import Source, cite
from phalanx.plan.decisions.host import EC2, MANAGED
from phalanx.plan.memory import BYTES
from phalanx.plan.sizing import Sized
from phalanx.plan.workload import Workload

LARGE_DATASET_MIB = 1024 * 1024
"""From here on a dataset read by several nodes is fed through FSx for Lustre."""


@dataclass(frozen=True)
class Advice:
    """One piece of advice."""

    what: str
    use: str
    because: str
    sources: tuple[Source, ...]


def storage(workload: Workload, sized: Sized, host: str) -> tuple[Advice, ...]:
    """Where data, checkpoints and weights go."""
    return tuple(_storage(workload, sized, host))


def _storage(workload: Workload, sized: Sized, host: str) -> Iterator[Advice]:
    if workload.trains:
        yield Advice(
            "checkpoints",
            "S3, by way of local disk",
            "They must outlive the instance: never on it alone. Committed with digests, in a "
            "bucket of the Region.",
            cite("plan.s3", "plan.nvme"),
        )
        yield _dataset(workload, sized, host)
    if workload.use == "inference":
        yield _weights(workload)
    if sized.instance and sized.instance.nvme_count:
        row = sized.instance
        yield Advice(
            "scratch",
            f"instance store ({row.nvme_count} x {row.nvme_gb} GB on {row.name})",
            "Caches, shuffles and the first copy of a checkpoint; gone when the instance stops.",
            cite("plan.nvme"),
        )
    if not workload.devices.is_cpu:
        yield Advice(
            "shared memory",
            "linuxParameters.sharedMemorySize, counted in the task's memory",
            "64 MiB where nothing is set: too little for NCCL and data loaders.",
            cite("plan.shm"),
        )


def _dataset(workload: Workload, sized: Sized, host: str) -> Advice:
    large = (workload.dataset_mib or 0) >= LARGE_DATASET_MIB and sized.nodes > 1
    if not (large or workload.lustre):
        return Advice(
            "dataset",
            "S3",
            "Read by the task role, keyed by version."
            if workload.dataset_mib is not None
            else "Its size is not said; S3 until it limits the step time.",
            cite("plan.s3"),
        )
    where = "mounted on the host and bound" if host == EC2 else "which needs the EC2 launch type"
    return Advice(
        "dataset",
        f"FSx for Lustre linked to S3, {where}",
        "ECS has no Lustre volume type. It is in one zone: the compute's. Prewarm it, for files "
        "load from S3 at first read.",
        cite("plan.lustre-on-host", "plan.same-zone"),
    )


def _weights(workload: Workload) -> Advice:
    mib = workload.weights_mib
    if mib is None and workload.model.is_sized:
        mib = int(workload.model.parameters * BYTES[workload.model.precision] / 1024**2)
    limit_gb = rows()["plan.weights-place"].value["image_max_gb"]
    many = workload.serving.replicas[1] > 4
    if mib is None:
        use, because = "S3, to local disk at start", "Their size is not said."
    elif mib * 1024**2 < limit_gb * 10**9:
        use, because = "in the image, or S3", f"Below about {limit_gb} GB an image may hold them."
    else:
        use = "S3 to local NVMe at start" + (", or EFS or FSx shared by all replicas" * many)
        because = f"{mib / 1024:,.0f} GiB are too much for an image; never from a public hub."
    return Advice("weights", use, because, cite("plan.weights-place", "plan.efs", "plan.s3"))


def observability(workload: Workload, host: str, vendor: str) -> tuple[Advice, ...]:
    """What to watch, and by what."""
    return tuple(_observability(workload, host, vendor))


def _observability(workload: Workload, host: str, vendor: str) -> Iterator[Advice]:
    if vendor == "neuron":
        yield Advice(
            "device metrics",
            "neuron-monitor as a sidecar with the devices open",
            "No agentless metrics of Neuron exist on ECS.",
            cite("plan.metrics-neuron"),
        )
    elif vendor == "nvidia" and host == MANAGED:
        yield Advice(
            "GPU metrics",
            "Container Insights with enhanced observability",
            "Agentless DCGM metrics of every task exist on Managed Instances only.",
            cite("plan.metrics-mi"),
        )
    elif vendor == "nvidia":
        yield Advice(
            "GPU metrics",
            "DCGM exporter on each host, or the CloudWatch agent",
            "Container Insights says only what is reserved here, never what is used.",
            cite("plan.metrics-ec2"),
        )
    yield Advice(
        "alarms",
        _alarms(workload, vendor),
        "A rank that hangs keeps its task RUNNING."
        if workload.trains
        else "The tasks say how loaded they are; a queue says who waits."
        if vendor == "none"
        else "CPU says little about a GPU.",
        cite("plan.alarms"),
    )
    yield Advice(
        "logs",
        "awslogs with mode, buffer size and retention set",
        "Non-blocking may lose lines, blocking may stall "
        f"{'a rank' if workload.trains or vendor != 'none' else 'the task'}: choose, and say so.",
        cite("plan.logs"),
    )


def _alarms(workload: Workload, vendor: str) -> str:
    if vendor == "none":
        if workload.trains:
            return "age of the last step and of the last checkpoint, stopped ranks, memory"
        if workload.use == "inference":
            return "latency, queue length, running below desired, CPU, memory"
        return "CPU use below half for long, tasks in PROVISIONING"
    if workload.trains:
        return "age of the last step and of the last checkpoint, stopped ranks, GPU memory, Xid"
    if workload.use == "inference":
        return "latency, queue length, running below desired, GPU memory, Xid"
    return "GPU use below half for long, tasks in PROVISIONING"
