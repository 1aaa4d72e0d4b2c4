"""What this machine has, and which wishes of a plan it cannot meet."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from typing import NamedTuple

from phalanx.backends.local import marks
from phalanx.plan.job import JobPlan

_MIB = 1024 * 1024


TASK_MIB = 300
"""What a task takes before it trains: its agent, and a warm parent with torch imported."""
RANK_MIB = 100
"""What a rank takes at least, beyond what it shares with its warm parent."""


class Machine(NamedTuple):
    """Hardware of this machine as this process may use it."""

    gpus: tuple[str, ...]
    """Ids as CUDA_VISIBLE_DEVICES takes them."""
    cpus: float
    memory_mib: int
    shared_memory_mib: int


class Doubt(NamedTuple):
    """One wish of a plan that this machine does not meet."""

    text: str
    is_fatal: bool
    """Whether the job cannot run here at all."""


def gpus_here(environ: Mapping[str, str] | None = None, devices: str = "/dev") -> tuple[str, ...]:
    """Ids of the GPUs that jobs may use, without importing torch; () on a machine without.

    `PHALANX_DEVICES`, then `CUDA_VISIBLE_DEVICES` of the environment restrict them.
    """
    env = os.environ if environ is None else environ
    for name in (marks.DEVICES, marks.CUDA):
        if name in env:
            return tuple(part.strip() for part in env[name].split(",") if part.strip())
    return tuple(str(index) for index in range(_count_nodes(devices) or _count_by_tool()))


def _count_nodes(devices: str) -> int:
    try:
        entries = os.listdir(devices)
    except OSError:
        return 0
    return sum(1 for name in entries if name.startswith("nvidia") and name[6:].isdigit())


def _count_by_tool() -> int:
    """For machines whose driver has no device nodes (WSL)."""
    try:
        answer = subprocess.run(
            ["nvidia-smi", "-L"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    if answer.returncode != 0:
        return 0
    return sum(1 for line in answer.stdout.splitlines() if line.startswith("GPU "))


def machine_here(environ: Mapping[str, str] | None = None) -> Machine:
    """The hardware, within the limits of this process's cgroup and CPU set."""
    cpus = float(len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1)
    quota = _cgroup("cpu.max").split()
    if len(quota) == 2 and quota[0].isdigit():
        cpus = min(cpus, int(quota[0]) / int(quota[1]))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = _cgroup("memory.max")
    if limit.isdigit():
        memory = min(memory, int(limit))
    return Machine(gpus_here(environ), cpus, memory // _MIB, _shared_memory_mib())


def _cgroup(name: str) -> str:
    try:
        with open(f"/sys/fs/cgroup/{name}", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def _shared_memory_mib() -> int:
    try:
        state = os.statvfs("/dev/shm")
    except OSError:
        return 0
    return state.f_frsize * state.f_blocks // _MIB


def has_loopback_net() -> bool:
    """Whether this machine answers on 127.0.0.0/8 and not on 127.0.0.1 alone."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.bind(("127.77.0.2", 0))
    except OSError:
        return False
    return True


def preflight(
    plan: JobPlan, machine: Machine, environ: Mapping[str, str] | None = None
) -> tuple[Doubt, ...]:
    """Every wish that this machine does not meet; fatal ones first."""
    env = os.environ if environ is None else environ
    doubts = [*_device_doubts(plan, machine), *_crowd_doubts(plan, machine)]
    doubts += _secret_doubts(plan, env)
    for need, has, what in (
        (plan.cpus * plan.nodes, machine.cpus, "CPUs"),
        (plan.memory_mib * plan.nodes, machine.memory_mib, "MiB of memory"),
        (plan.shared_memory_mib or 0, machine.shared_memory_mib, "MiB of shared memory"),
    ):
        if need > has:
            text = f"all tasks together ask for {need:g} {what}, this machine has {has:g}"
            doubts.append(Doubt(f"{text}; they will share it", False))
    if plan.image:
        doubts.append(Doubt("the image is not used on this machine: its own Python runs", False))
    if plan.efa:
        doubts.append(Doubt("there is no EFA on this machine: ranks talk over loopback", False))
    return tuple(sorted(doubts, key=lambda doubt: not doubt.is_fatal))


def _device_doubts(plan: JobPlan, machine: Machine) -> list[Doubt]:
    need = plan.fewest * plan.gpus_per_node
    if need <= len(machine.gpus):
        return []
    each = f"{plan.fewest} tasks x {plan.gpus_per_node}"
    return [Doubt(f"the job needs {need} GPUs ({each}), {_count(len(machine.gpus))} here", True)]


def _crowd_doubts(plan: JobPlan, machine: Machine) -> list[Doubt]:
    """More processes than the machine could hold would take everything else on it down too."""
    ranks = plan.nodes * plan.ranks_per_node
    need_mib = plan.nodes * TASK_MIB + ranks * RANK_MIB
    if need_mib <= machine.memory_mib:
        return []
    text = f"{plan.nodes} tasks with {ranks} ranks need at least {need_mib:,} MiB of memory"
    return [Doubt(f"{text}, this machine has {machine.memory_mib:,}", True)]


def _count(n: int) -> str:
    return "there is none" if n == 0 else "there is 1" if n == 1 else f"there are {n}"


def _secret_doubts(plan: JobPlan, environ: Mapping[str, str]) -> list[Doubt]:
    doubts = []
    for secret in plan.secrets:
        if secret.source != "env":
            text = f"secret {secret.name} comes from {secret.source}, which only AWS targets read"
            doubts.append(Doubt(text, True))
        elif secret.reference not in environ:
            text = f"secret {secret.name}: the variable {secret.reference} is not set"
            doubts.append(Doubt(text, True))
    return doubts


def promises() -> tuple[str, ...]:
    """What the local target cannot promise on this system, one sentence each."""
    limits = [
        "CPUs of a task are not limited: tasks share the machine",
        "memory is looked at twice a second: a task may be over resources.memory for that long",
        "a process that leaves its session and clears its environment is not found again if its "
        "agent is killed before anybody looked",
    ]
    if not is_supported():
        limits.insert(0, "jobs cannot be run here: only Linux has /proc and pid file descriptors")
    return tuple(limits)


def is_supported() -> bool:
    """Whether this system has what the local backend stands on: /proc and pid descriptors."""
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return os.path.exists("/proc/self/stat")
