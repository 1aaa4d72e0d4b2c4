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
    """(nodes, GPUs of each)."""
    accelerator = spec.resources.accelerator if spec.resources else None
    return (spec.nodes.min if spec.nodes else 1), (accelerator.count if accelerator else 0)


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
    if spec.nodes is None or spec.nodes.min == spec.nodes.max:
        return None
    low, high = spec.nodes.min, spec.nodes.max
    said = f"nodes {low} to {high}: this release keeps the number of nodes fixed"
    return said, f"write nodes: {low} or nodes: {high}"


def _watch(spec: JobSpec, gpus_here: int) -> tuple[str, str] | None:
    if spec.checkpoint is None or spec.checkpoint.mode != "watch":
        return None
    said = "checkpoint.mode watch: this release does not commit what a framework writes"
    return said, "use phalanx.train in the script and mode: api"


def _notify(spec: JobSpec, gpus_here: int) -> tuple[str, str] | None:
    if not spec.notify:
        return None
    return "notify: this release sends no messages", "remove it, and use phalanx wait in a script"


def _init_from(spec: JobSpec, gpus_here: int) -> tuple[str, str] | None:
    if spec.init_from is None:
        return None
    said = "init_from: this release begins every job from nothing"
    return said, "remove it, and load the weights in the script"


def _instance_hours(spec: JobSpec, gpus_here: int) -> tuple[str, str] | None:
    if spec.limits is None or spec.limits.max_instance_hours is None:
        return None
    said = "limits.max_instance_hours: this release does not count them"
    return said, "remove it, and set limits.max_runtime"


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
    nodes, each = gpus_wanted(spec)
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
    _watch,
    _notify,
    _init_from,
    _instance_hours,
    _secrets,
    _efa,
    _neuron,
    _gpus,
)
"""Tried in this order; the first that is broken is told."""
