"""From what the user asked for to a plan with every default filled."""

from __future__ import annotations

from phalanx.plan.job import CheckpointPlan, JobPlan, Secret
from phalanx.plan.promises import check_promises, gpus_wanted, ranks_of
from phalanx.plan.receivers import receivers
from phalanx.plan.restarts import restart_rules
from phalanx.spec.fields import Every
from phalanx.spec.job import JobSpec
from phalanx.spec.life import Checkpoint, Elastic, Evidence, Hang, Limits, Stop
from phalanx.spec.resources import Resources

DEFAULT_EXCLUDE = (".git", "*.pt")
"""Patterns that are not shipped when the job file names none."""
_DEFAULT = JobPlan(name="", command=())


def build_plan(spec: JobSpec, *, gpus_here: int = 0) -> JobPlan:
    """The plan of a job on this machine, which has `gpus_here` GPUs.

    Raises `PlanError` for a promise that the target cannot keep. `source_digest` stays None:
    whoever ships the folder fills it.
    """
    check_promises(spec, gpus_here)
    nodes, gpus = gpus_wanted(spec)
    resources = spec.resources or Resources()
    limits = spec.limits or Limits()
    elastic = spec.elastic or Elastic()
    return JobPlan(
        name=spec.name,
        command=spec.command,
        launcher=spec.launcher or _DEFAULT.launcher,
        nodes=nodes,
        ranks_per_node=ranks_of(spec),
        cpus=resources.cpus or _DEFAULT.cpus,
        memory_mib=resources.memory or _DEFAULT.memory_mib,
        gpus_per_node=gpus,
        accelerator=resources.accelerator.kind if resources.accelerator and gpus else "",
        shared_memory_mib=resources.shared_memory,
        efa=bool(resources.efa),
        image=spec.image,
        env=tuple(sorted((spec.env or {}).items())),
        secrets=_secrets(spec),
        working_directory=spec.working_directory or _DEFAULT.working_directory,
        source=source_of(spec),
        total_steps=spec.total_steps,
        checkpoint=_checkpoint(spec.checkpoint or Checkpoint()),
        hang_after_s=(spec.hang or Hang()).after_s,
        stop_grace_s=(spec.stop or Stop()).grace_s or _DEFAULT.stop_grace_s,
        restart=restart_rules(spec.restart or ()),
        restart_scope=spec.restart_scope or _DEFAULT.restart_scope,
        warm=spec.warm or (),
        no_progress=limits.no_progress or _DEFAULT.no_progress,
        max_runtime_s=limits.max_runtime_s or _DEFAULT.max_runtime_s,
        max_waiting_s=limits.max_waiting_s or _DEFAULT.max_waiting_s,
        evidence_keep_s=(spec.evidence or Evidence()).keep_s or _DEFAULT.evidence_keep_s,
        target=(spec.target.kind if spec.target else None) or _DEFAULT.target,
        min_nodes=spec.nodes.min if spec.nodes and spec.nodes.min < spec.nodes.max else 0,
        last_call_s=_DEFAULT.last_call_s if elastic.last_call_s is None else elastic.last_call_s,
        grow_after_s=elastic.grow_after_s,
        global_batch=elastic.global_batch,
        max_instance_hours=limits.max_instance_hours,
        memory_limit_mib=resources.memory,
        notify=receivers(spec.notify or ()),
    )


def source_of(spec: JobSpec) -> str | None:
    """The folder that is shipped, relative to the job file; None ships nothing.

    A job without an image ships the folder of its file, unless it says `source: null`.
    """
    if spec.source is not None or spec.image is not None:
        return spec.source
    return None if "source" in spec.model_fields_set else "."


def exclude_of(spec: JobSpec) -> tuple[str, ...]:
    """Patterns of files in the source that are not shipped.

    A watched folder is not: a job begins with none of an earlier run's checkpoints in it.
    """
    asked = DEFAULT_EXCLUDE if spec.exclude is None else spec.exclude
    watched = _folder_of(spec)
    return (*asked, f"/{watched}") if watched else asked


def _folder_of(spec: JobSpec) -> str:
    """The watched folder, relative to the source; '' when none is a folder of its own."""
    inside = spec.checkpoint.dir if spec.checkpoint else None
    if inside is None or inside in (".", "./"):
        return ""
    steps = [*(spec.working_directory or ".").split("/"), *inside.split("/")]
    return "/".join(step for step in steps if step not in ("", "."))


def _checkpoint(asked: Checkpoint) -> CheckpointPlan:
    every = asked.every or Every()
    return CheckpointPlan(
        mode=asked.mode or _DEFAULT.checkpoint.mode,
        every_steps=every.steps,
        every_s=every.seconds,
        keep=asked.keep or _DEFAULT.checkpoint.keep,
        directory=asked.dir,
    )


def _secrets(spec: JobSpec) -> tuple[Secret, ...]:
    found = []
    for name, secret in sorted((spec.secrets or {}).items()):
        for source in ("env", "ssm", "secretsmanager"):
            reference = getattr(secret, source)
            if reference is not None:
                found.append(Secret(name, source, reference))
    return tuple(found)
