"""What a job file of kind train says about its workload."""

from __future__ import annotations

import re

from phalanx.facts.instances import all_instances
from phalanx.plan.workload import DeviceNeed, LossNeed, RunNeed, SecurityNeed, Workload
from phalanx.spec.fields import Every
from phalanx.spec.job import JobSpec
from phalanx.spec.life import Checkpoint

_DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")
_NEURON = re.compile(r"(trn|inf)[0-9]|trainium|inferentia|neuron", re.I)
_SECRET = re.compile(r"(^|_)(TOKEN|SECRET|PASSWORD|API_?KEY|ACCESS_KEY(_ID)?)$", re.I)


def workload_of_job(job: JobSpec) -> Workload:
    """The workload as far as a job file knows it."""
    nodes = job.nodes.max if job.nodes else 0
    return Workload(
        name=job.name,
        use="training",
        devices=_devices(job, max(nodes, 1)),
        run=_run(job, nodes),
        security=_security(job),
        losses=LossNeed(fixed_every_s=_every(job).seconds),
        assumptions=_assumptions(job),
    )


def _devices(job: JobSpec, nodes: int) -> DeviceNeed:
    asked = job.resources.accelerator if job.resources else None
    if asked is None or not asked.count:
        return DeviceNeed(is_cpu=True)
    kind = "" if asked.kind == "gpu" else asked.kind
    vendor = "neuron" if _NEURON.match(kind) else "nvidia"
    # An instance type stands for all that it holds; an accelerator is counted on every node.
    row = next((r for r in all_instances() if r.name == kind), None)
    per_node = row.count if row and asked.count == 1 else asked.count
    return DeviceNeed(vendor=vendor, type=kind, count=per_node * nodes)


def _run(job: JobSpec, nodes: int) -> RunNeed:
    capacity = job.target.capacity if job.target else None
    limits = job.limits
    return RunNeed(
        nodes=nodes,
        duration_s=limits.max_runtime_s if limits else None,
        market=(capacity.market if capacity else None) or "any",
        resumes=True,
    )


def _every(job: JobSpec) -> Every:
    return (job.checkpoint or Checkpoint()).every or Every()


def _security(job: JobSpec) -> SecurityNeed:
    seen, missing = [], []
    if job.secrets:
        seen.append(("SB2", f"secrets {', '.join(sorted(job.secrets))} are given by reference"))
    plain = [name for name in job.env or {} if _SECRET.search(name)]
    if plain:
        missing.append(("SB2", f"env.{plain[0]} looks like a secret in plain text"))
    if job.image and _DIGEST.search(job.image):
        seen.append(("SB3", "the image is pinned by digest (scanning is not shown by a job file)"))
    elif job.image:
        missing.append(("SB3", "the image is named by a tag, not by a digest"))
    return SecurityNeed(seen=tuple(seen), missing=tuple(missing))


def _assumptions(job: JobSpec) -> tuple[str, ...]:
    notes = ["The job goes on from its last committed checkpoint after a loss, as phalanx jobs do."]
    if job.limits and job.limits.max_runtime_s:
        notes.append("limits.max_runtime is taken as the length of the run.")
    if job.nodes and job.nodes.min != job.nodes.max:
        notes.append(f"The plan is for the most nodes, {job.nodes.max}.")
    return tuple(notes)
