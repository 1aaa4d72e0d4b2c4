"""Promises that a job file may demand and this release cannot keep, one row each.

Taking a row away lifts the limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from phalanx.errors import PlanError
from phalanx.spec.job import JobSpec

Check = Callable[[JobSpec, int], "tuple[str, str] | None"]
"""(spec, GPUs of this machine) → (what cannot be kept, what to do), or None when it can."""

_NEURON = re.compile(r"(trn|inf)[0-9]|trainium|inferentia|neuron", re.I)


def check_promises(spec: JobSpec, gpus_here: int) -> None:
    """Raises `PlanError` for the first promise that cannot be kept."""
    for check in PROMISES:
        broken = check(spec, gpus_here)
        if broken:
            raise PlanError(broken[0], hint=broken[1])


def gpus_wanted(spec: JobSpec) -> tuple[int, int]:
    """(nodes, GPUs of each): the most nodes of a range."""
    accelerator = spec.resources.accelerator if spec.resources else None
    return (spec.nodes.max if spec.nodes else 1), (accelerator.count if accelerator else 0)


def ranks_of(spec: JobSpec) -> int:
    """Processes of each node."""
    if spec.ranks_per_node is not None:
        return spec.ranks_per_node
    return 1 if spec.launcher == "none" else max(gpus_wanted(spec)[1], 1)


def _target(spec: JobSpec, gpus_here: int) -> tuple[str, str] | None:
    kind = spec.target.kind if spec.target else None
    if kind in (None, "local"):
        return None
    return f"this release runs target local; {kind} comes with a later one", "set target.kind=local"


def _place(spec: JobSpec, gpus_here: int) -> tuple[str, str] | None:
    """A cluster or a market is a demand that one machine cannot meet."""
    target = spec.target
    if target is None:
        return None
    for name in ("cluster", "capacity"):
        if getattr(target, name) is not None:
            return f"target.{name}: target local has none", f"remove target.{name}"
    return None


def _elastic(spec: JobSpec, gpus_here: int) -> tuple[str, str] | None:
    """Every rank has a share of the batch, however many nodes there are."""
    nodes = spec.nodes
    if nodes is None:
        return None
    batch = spec.elastic.global_batch if spec.elastic else None
    most = nodes.max * ranks_of(spec)
    if batch is None or batch >= most:
        return None
    said = f"elastic.global_batch {batch}: up to {most} ranks would have less than a sample each"
    return said, "make it larger, or lower nodes.max"


def _topics(spec: JobSpec, gpus_here: int) -> tuple[str, str] | None:
    for number, notify in enumerate(spec.notify or ()):
        if notify.sns is not None:
            said = f"notify[{number}].sns: target local cannot publish to SNS topics"
            return said, "use webhook, or a command that publishes"
    return None


def _init_from(spec: JobSpec, gpus_here: int) -> tuple[str, str] | None:
    """Weights behind a URL, and a state that no framework of a watched folder could take."""
    weights = spec.init_from.weights if spec.init_from else None
    watches = spec.checkpoint is not None and spec.checkpoint.mode == "watch"
    if spec.init_from is not None and weights is None and watches:
        said = "init_from.job: with checkpoint.mode watch phalanx loads nothing into a framework"
        return said, "write it out with `phalanx checkpoints restore`, and name init_from.weights"
    if weights is None or "://" not in weights.removeprefix("file://"):
        return None
    scheme = weights.partition("://")[0]
    said = f"init_from.weights: target local reads files and folders only, not {scheme}://"
    return said, "fetch it first, and name the folder"


def _secrets(spec: JobSpec, gpus_here: int) -> tuple[str, str] | None:
    for name, secret in (spec.secrets or {}).items():
        if secret.env is None:
            kept = "ssm" if secret.ssm is not None else "secretsmanager"
            said = f"secrets.{name}: target local cannot read {kept}"
            return said, f"write {{env: {name}}} and set {name} where the job is started"
    return None


def _efa(spec: JobSpec, gpus_here: int) -> tuple[str, str] | None:
    if spec.resources is None or not spec.resources.efa:
        return None
    return "resources.efa: target local has no Elastic Fabric Adapter", "set resources.efa=false"


def _neuron(spec: JobSpec, gpus_here: int) -> tuple[str, str] | None:
    accelerator = spec.resources.accelerator if spec.resources else None
    if accelerator is None or not _NEURON.match(accelerator.kind):
        return None
    said = f"resources.accelerator {accelerator.kind}: target local runs CPUs and NVIDIA GPUs only"
    return said, "set resources.accelerator=cpu"


def _gpus(spec: JobSpec, gpus_here: int) -> tuple[str, str] | None:
    each = gpus_wanted(spec)[1]
    nodes = spec.nodes.min if spec.nodes else 1  # an elastic job needs no more to run
    wanted = nodes * each
    if wanted <= gpus_here:
        return None
    product = f" ({nodes} nodes of {each})" if nodes > 1 else ""
    said = f"resources.accelerator: the job needs {_gpu_count(wanted)}{product}"
    has = _gpu_count(gpus_here) if gpus_here else "none"
    return f"{said}, this machine has {has}", "set resources.accelerator=cpu, or ask for fewer"


def _gpu_count(number: int) -> str:
    return f"{number} GPU" if number == 1 else f"{number} GPUs"


PROMISES: tuple[Check, ...] = (
    _target,
    _place,
    _elastic,
    _init_from,
    _topics,
    _secrets,
    _efa,
    _neuron,
    _gpus,
)
"""Tried in this order; the first that is broken is told."""
