"""Worlds with alarms, but none on the memory of GPUs."""

from __future__ import annotations

import re

from phalanx.lint.infra import Alarm
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.signs import serves
from phalanx.lint.workload import Workload
from phalanx.lint.world import World

_MEMORY = Pattern(
    r"gpu\w*mem|mem\w*gpu|FB_(?:USED|FREE)|TaskGPUMemory|nvidia_smi_memory|utilization_memory"
    r"|neuron\w*mem|cache_usage|kv_?cache",
    re.IGNORECASE,
)


@rule(
    id="OBS005",
    slug="no-alarm-on-gpu-memory",
    severity="info",
    areas=("observability",),
    on=Workload,
    message="There are alarms, but none on GPU memory",
    why="A server whose card fills up ends with out of memory at the next long request; use of "
    "the host's memory says nothing about it.",
    fix="Alarm on TaskGPUMemoryUtilization (Managed Instances), nvidia_smi memory or "
    "DCGM_FI_DEV_FB_USED above about 90 percent, or on the engine's cache use.",
    sources=(
        (
            "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-Agent-NVIDIA-GPU.html",
            "2026-07-10",
        ),
    ),
    facts=("MON-22", "MON-09", "MON-11"),
)
def no_alarm_on_gpu_memory(workload: Workload, world: World) -> Found:
    """Accelerated servers in a world that declares alarms; all of their metrics known."""
    container = next((c for c in workload.containers if c.wants_gpu and serves(c)), None)
    if container is None:
        return
    names = metrics(workload, world)
    if names and not any(_MEMORY.search(name) for name in names):
        yield Hit(workload)


def metrics(workload: Workload, world: World) -> list[str]:
    """Metric names and expressions of all alarms; empty when one of them cannot be known."""
    names: list[str] = []
    for alarm in world.near(workload, Alarm):
        name = alarm.text("metricName")
        if name is not None:
            names.append(name)
        elif alarm.has("metricName"):
            return []
        else:
            names.append(str(alarm.raw("metrics") or alarm.raw("metricQuery") or alarm.data))
    return names
