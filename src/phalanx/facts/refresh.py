"""The compact table of instance types, from an answer of EC2's DescribeInstanceTypes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phalanx.errors import InputError

COLUMNS = (
    "maker",
    "accelerator",
    "count",
    "share",
    "device_memory_mib",
    "cores",
    "vcpus",
    "memory_mib",
    "efa",
    "network_cards",
    "interfaces",
    "nvme_count",
    "nvme_gb",
    "architecture",
    "usage",
)
_COMMON = """c5 c6a c6g c6i c7a c7g c7i m5 m6a m6g m6i m7a m7g m7i
r5 r6a r6g r6i r7a r7g r7i t3 t3a t4g"""
COMMON = frozenset(_COMMON.split())
"""Families without an accelerator or EFA that people put beside GPU capacity."""


def table(answer: object, *, source: str, verified: str) -> dict[str, Any]:
    """The table of every accelerated, EFA-able and common type. Raises `InputError`."""
    rows: dict[str, list[object]] = {}
    for entry in _entries(answer):
        name = str(entry.get("InstanceType", ""))
        if name and (_is_wanted(entry) or name.partition(".")[0] in COMMON):
            rows[name] = row(entry)
    if not rows:
        raise InputError("no instance types in the answer", hint="give a DescribeInstanceTypes one")
    return {
        "source": source,
        "verified": verified,
        "columns": list(COLUMNS),
        "rows": dict(sorted(rows.items(), key=_order)),
    }


def row(entry: Mapping[str, Any]) -> list[object]:
    """One type in the order of `COLUMNS`; `share` is the part of a device that one holds."""
    maker, accelerator, count, share, memory, cores = _device(entry)
    network = entry.get("NetworkInfo", {})
    disks = entry.get("InstanceStorageInfo", {}).get("Disks", [])
    return [
        maker,
        accelerator,
        count,
        share,
        memory,
        cores,
        entry.get("VCpuInfo", {}).get("DefaultVCpus", 0),
        entry.get("MemoryInfo", {}).get("SizeInMiB", 0),
        network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)
        if network.get("EfaSupported")
        else 0,
        network.get("MaximumNetworkCards", 1),
        network.get("MaximumNetworkInterfaces", 0),
        sum(int(d.get("Count", 0)) for d in disks),
        disks[0].get("SizeInGB", 0) if disks else 0,
        "arm64"
        if "arm64" in entry.get("ProcessorInfo", {}).get("SupportedArchitectures", [])
        else "x86_64",
        list(entry.get("SupportedUsageClasses", [])),
    ]


def _device(entry: Mapping[str, Any]) -> tuple[str, str, int, float, int, int]:
    gpus = entry.get("GpuInfo", {}).get("Gpus", [])
    if gpus:
        gpu = gpus[0]
        count = int(gpu.get("Count", 0) or gpu.get("LogicalGpuCount", 0) or 0)
        share = float(gpu.get("GpuPartitionSize", 1.0) or 1.0)
        memory = int(gpu.get("MemoryInfo", {}).get("SizeInMiB", 0))
        return str(gpu.get("Manufacturer", "")), str(gpu.get("Name", "")), count, share, memory, 0
    neuron = entry.get("NeuronInfo", {}).get("NeuronDevices", [])
    if neuron:
        device = neuron[0]
        memory = int(device.get("MemoryInfo", {}).get("SizeInMiB", 0))
        cores = int(device.get("CoreInfo", {}).get("Count", 0))
        return "AWS", str(device.get("Name", "")), int(device.get("Count", 0)), 1.0, memory, cores
    other = entry.get("InferenceAcceleratorInfo", {}).get("Accelerators", [])
    if other:
        device = other[0]
        memory = int(device.get("MemoryInfo", {}).get("SizeInMiB", 0))
        maker, name = str(device.get("Manufacturer", "")), str(device.get("Name", ""))
        return maker, name, int(device.get("Count", 0)), 1.0, memory, 0
    return "", "", 0, 1.0, 0, 0


def _is_wanted(entry: Mapping[str, Any]) -> bool:
    keys = ("GpuInfo", "NeuronInfo", "InferenceAcceleratorInfo")
    return any(key in entry for key in keys) or bool(
        entry.get("NetworkInfo", {}).get("EfaSupported")
    )


def _entries(answer: object) -> list[Mapping[str, Any]]:
    if isinstance(answer, Mapping):
        listed = answer.get("InstanceTypes")
        found = listed if isinstance(listed, list) else list(answer.values())
        return [entry for entry in found if isinstance(entry, Mapping)]
    if isinstance(answer, list):
        return [entry for entry in answer if isinstance(entry, Mapping)]
    return []


def _order(pair: tuple[str, list[object]]) -> tuple[str, int, int]:
    family = pair[0].partition(".")[0]
    return family, int(str(pair[1][6] or 0)), int(str(pair[1][7] or 0))
