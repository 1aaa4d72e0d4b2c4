"""D1: EC2, Managed Instances or Anywhere; never Fargate for accelerators."""

from __future__ import annotations

from collections.abc import Callable

from phalanx.facts.rows import rows, settled
from phalanx.plan.decisions.decision import Decision, Rejected, cite
from phalanx.plan.memory import serving_bytes
from phalanx.plan.sizing import Sized
from phalanx.plan.workload import Workload

QUESTION = "Which compute host?"
EC2, MANAGED, ANYWHERE, NONE = "ecs-on-ec2", "managed-instances", "ecs-anywhere", "none"
FARGATE = "fargate"
_FARGATE = Rejected("fargate", "Fargate has no GPU and no other accelerator, in any form")
_TRAINING_UNLESS = (
    "the run is one node and stays below 14 days",
    "a run that crosses day 14 resumes by itself and its maintenance window is set",
)
_STANDING_UNLESS = (
    "what asks for a host of one's own falls away",
    "less operating effort is worth more than control of AMI and host",
)

Signal = Callable[[Workload, Sized], "tuple[str, str] | None"]
"""(workload, hardware) → (reason for EC2, the fact that it rests on), or None."""


def signals(workload: Workload, sized: Sized) -> tuple[tuple[str, str], ...]:
    """Everything that speaks for EC2 and against Managed Instances: (reason, fact)."""
    return tuple(found for signal in SIGNALS if (found := signal(workload, sized)))


def host_of(workload: Workload, sized: Sized) -> str:
    """The host's name."""
    if workload.devices.own and not _grows_beyond(workload):
        return ANYWHERE
    if workload.devices.is_cpu and not _not_fargate(workload):
        return FARGATE
    return EC2 if signals(workload, sized) else MANAGED


def _not_fargate(workload: Workload) -> str:
    """Why a workload without accelerator is not for Fargate, in words; empty when it is."""
    model = workload.model
    if workload.security.custom_ami:
        return "an own AMI or kernel is required"
    if workload.lustre:
        return "FSx for Lustre is mounted on the host"
    if workload.run.market in ("reserved", "capacity_block"):
        return "assured capacity is asked for, and Fargate has no reservations"
    if workload.team.platform == "managed_instances":
        return "the team runs Managed Instances already"
    if workload.use == "inference" and model.is_sized:
        need = serving_bytes(model, workload.serving.concurrency)
        most = settled("fargate.memory-max-gib")
        if need > most * 1024**3:
            return f"one replica needs {need / 1024**3:,.0f} GiB, a task there has at most {most}"
    return ""


def decide(workload: Workload, sized: Sized, host: str) -> Decision:
    """The decision with its reasons."""
    if host == NONE:
        return _none()
    if host == ANYWHERE:
        return _anywhere(workload)
    if host == FARGATE:
        return _plain(workload)
    facts = ("plan.host-comparison", "plan.mi-choice", "fargate.accelerators")
    reasons, more, because = _own_host(workload, sized) if host == EC2 else _managed(workload)
    beyond = "more GPUs are needed than stand on site"
    own = beyond if workload.devices.own else "no GPUs stand on site"
    others = (Rejected(FARGATE, why) if (why := _cpu_elsewhere(workload)) else _FARGATE,)
    rejected = Rejected(MANAGED if host == EC2 else EC2, because)
    return Decision(
        "D1",
        QUESTION,
        host,
        reasons,
        (rejected, Rejected(ANYWHERE, own), *others),
        cite(*facts, *more),
        _unless(workload, host),
    )


def _cpu_elsewhere(workload: Workload) -> str:
    return _not_fargate(workload) if workload.devices.is_cpu else ""


def _plain(workload: Workload) -> Decision:
    """Fargate, where there is no accelerator and nothing asks for a host."""
    reasons = (
        "No accelerator is asked for, and nothing asks for a host: Fargate has no instances to "
        "choose, patch or scale.",
    )
    more = "Fargate does as well, and there are no instances to pay for while they stand idle"
    rejected = (
        Rejected(EC2, "scaling group, AMI and patching would be the team's own"),
        Rejected(MANAGED, more),
        Rejected(ANYWHERE, "nothing stands on site for it"),
    )
    vcpus, most = max(settled("fargate.cpu-units")) // 1024, settled("fargate.memory-max-gib")
    change = (
        "the workload needs an accelerator, an own AMI or kernel, or FSx for Lustre",
        f"a task needs more than {vcpus} vCPUs or {most} GiB",
        "capacity must be reserved",
    )
    facts = (
        "plan.no-accelerator",
        "plan.host-comparison",
        "fargate.cpu-units",
        "fargate.memory-max-gib",
    )
    return Decision("D1", QUESTION, FARGATE, reasons, rejected, cite(*facts), change)


_Why = tuple[tuple[str, ...], tuple[str, ...], str]
"""(reasons, facts, why not the other)."""


def _own_host(workload: Workload, sized: Sized) -> _Why:
    found = signals(workload, sized)
    facts = tuple(fact for _, fact in found)
    return tuple(reason for reason, _ in found), facts, found[0][0].rstrip(".")


def _managed(workload: Workload) -> _Why:
    reasons = [
        "No scaling group, AMI or patching to operate; nothing asked for needs a host of one's own."
    ]
    if workload.days is not None and workload.trains:
        reasons.append(f"A run of {workload.days:g} days ends before the drain of day 14.")
    facts = ("mi.drain-starts-days", "mi.terminated-by-days", "plan.mi-fee")
    return tuple(reasons), facts, "scaling group, AMI and patching would be the team's own"


def _unless(workload: Workload, host: str) -> tuple[str, ...]:
    if host == MANAGED:
        return (
            "a run lasts longer than 14 days, or several nodes need EFA",
            "GuardDuty Runtime Monitoring, an own AMI or kernel, or FSx for Lustre is required",
            "the management fee for each instance decides",
        )
    return _TRAINING_UNLESS if workload.trains else _STANDING_UNLESS


def _grows_beyond(workload: Workload) -> bool:
    return workload.devices.count > workload.devices.own


def _none() -> Decision:
    reasons = ("No accelerator of one's own is operated, so there is no host to choose for it.",)
    rejected = (
        Rejected(EC2, "there is no accelerator to host"),
        Rejected(MANAGED, "there is no accelerator to host"),
        Rejected(ANYWHERE, "there is no accelerator to host"),
    )
    change = ("GPUs are to be operated after all",)
    facts = ("plan.to-bedrock", "fargate.accelerators")
    return Decision("D1", QUESTION, NONE, reasons, rejected, cite(*facts), change)


def _anywhere(workload: Workload) -> Decision:
    reasons = (
        f"{workload.devices.own} GPUs stand on site: register their hosts with --enable-gpu, the "
        "NVIDIA driver installed first.",
        "Native MPS sharing and GuardDuty Runtime Monitoring do not reach such hosts.",
    )
    rejected = (
        Rejected(EC2, "the GPUs on site are enough"),
        Rejected(MANAGED, "the GPUs on site are enough"),
        _FARGATE,
    )
    change = ("more GPUs are needed than stand on site", "the site's network or power falls short")
    facts = ("plan.anywhere-gpu", "plan.host-comparison", "plan.guardduty", "fargate.accelerators")
    return Decision("D1", QUESTION, ANYWHERE, reasons, rejected, cite(*facts), change)


def _long_run(workload: Workload, sized: Sized) -> tuple[str, str] | None:
    drain, gone = settled("mi.drain-starts-days"), settled("mi.terminated-by-days")
    if workload.use == "inference" or workload.days is None or workload.days <= drain:
        return None
    said = (
        f"The run lasts {workload.days:g} days: Managed Instances start draining on day {drain} "
        f"and are gone by day {gone}"
    )
    return f"{said}, which stops a standalone training task.", "mi.drain-starts-days"


def _unknown_length(workload: Workload, sized: Sized) -> tuple[str, str] | None:
    if not workload.trains or workload.days is not None:
        return None
    said = "The length of the run is not said; on EC2 no drain of day 14 can meet it."
    return said, "mi.drain-starts-days"


def _several_nodes(workload: Workload, sized: Sized) -> tuple[str, str] | None:
    if not workload.trains or sized.nodes < 2 or workload.devices.is_cpu:
        return None
    return (
        "Several nodes need EFA interfaces and a cluster placement group, which a template of "
        "Managed Instances does not take.",
        "plan.efa-not-on-mi",
    )


def _spot_training(workload: Workload, sized: Sized) -> tuple[str, str] | None:
    if not workload.trains or workload.run.market != "spot" or workload.devices.is_cpu:
        return None
    said = (
        "Training on Spot listens for the two-minute notice on the host, which must be one's own."
    )
    return said, "plan.mi-no-ami"


def _runtime_monitoring(workload: Workload, sized: Sized) -> tuple[str, str] | None:
    security = workload.security
    if not security.runtime_monitoring and "pci" not in security.compliance:
        return None
    who = "GuardDuty Runtime Monitoring is required"
    if not security.runtime_monitoring:
        who = "PCI asks for runtime threat detection: GuardDuty Runtime Monitoring gives it on EC2"
    return f"{who}; Managed Instances are not covered.", "plan.guardduty"


def _own_image(workload: Workload, sized: Sized) -> tuple[str, str] | None:
    if not workload.security.custom_ami:
        return None
    return "An own AMI or kernel is required; Managed Instances take none.", "plan.mi-no-ami"


def _fee(workload: Workload, sized: Sized) -> tuple[str, str] | None:
    if not workload.team.fee_sensitive:
        return None
    return "The management fee of Managed Instances decides against them.", "plan.mi-fee"


def _lustre(workload: Workload, sized: Sized) -> tuple[str, str] | None:
    if not workload.lustre:
        return None
    return "FSx for Lustre is mounted on the host, which must be one's own.", "plan.lustre-on-host"


def _block(workload: Workload, sized: Sized) -> tuple[str, str] | None:
    if workload.run.market != "capacity_block":
        return None
    return "Capacity Blocks are used from a scaling group of one's own.", "plan.mi-no-blocks"


def _not_listed(workload: Workload, sized: Sized) -> tuple[str, str] | None:
    row = sized.instance
    if row is None:
        return None
    if row.family in ("trn2", "inf1"):
        return f"{row.name}: plan Trn2 and Inf1 on EC2 only.", "plan.neuron-scope"
    if row.family in rows()["gpu.mi-families"].value:
        return None
    return f"{row.name} is not on the list of Managed Instances types.", "gpu.mi-families"


SIGNALS: tuple[Signal, ...] = (
    _long_run,
    _several_nodes,
    _runtime_monitoring,
    _own_image,
    _block,
    _spot_training,
    _lustre,
    _not_listed,
    _fee,
    _unknown_length,
)
"""What speaks for EC2, the weightiest first."""
