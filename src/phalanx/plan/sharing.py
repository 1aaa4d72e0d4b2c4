"""A wish to share a GPU, and why it cannot be had."""

from __future__ import annotations

from phalanx.facts.instances import all_instances
from phalanx.plan.workload import Workload

FRACTIONS = ("g6f", "gr6f")
"""Families whose types hold a part of an L4."""


def part_wished(workload: Workload, vendor: str) -> bool:
    """Types with a part of a GPU are looked at: for inference, where they are asked for."""
    return workload.use == "inference" and workload.sharing == "fractional" and vendor == "nvidia"


def no_part(workload: Workload, vendor: str, host: str) -> str:
    """Why no type with a part of a GPU was taken, in words."""
    if workload.devices.own:
        return "the GPUs on site are whole"
    if workload.devices.type:
        return f"{workload.devices.type} is asked for"
    if vendor == "neuron":
        return "they hold a part of an NVIDIA GPU, and Neuron is chosen"
    if workload.devices.count > 1:
        return f"{workload.devices.count} devices are asked for, and such a type has one part"
    if workload.use != "inference":
        return "they are proposed for inference only; development shares a whole GPU by MPS"
    if host == "ecs-on-ec2":
        return "they stand on Managed Instances only, and this workload belongs on EC2 (see D1)"
    if not workload.model.is_sized:
        return "the model's size is not known, so neither is whether it fits a part of a GPU"
    most = max(row.device_memory_mib for row in all_instances() if row.family in FRACTIONS)
    return f"one replica does not fit the largest part, {most} MiB"


def not_shared(workload: Workload) -> str:
    """Why a wish for MPS is not followed, in words; empty when it is or nothing is wished."""
    if workload.sharing not in ("mps", "share") or workload.devices.is_cpu:
        return ""
    if workload.tenants == "many":
        return (
            "MPS is no isolation boundary: its clients share one failure domain, so a fault of "
            "one tenant reaches all"
        )
    if workload.use == "development":
        return ""
    return f"GPUs of {workload.use} are not shared: a fault of one sharer reaches all"
