"""What somebody probably meant: near names, and words of other tools."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

FIELDS = {
    "gpu": "resources.accelerator",
    "gpus": "resources.accelerator",
    "num_gpus": "resources.accelerator",
    "accelerators": "resources.accelerator",
    "gpu_type": "resources.accelerator",
    "cpu": "resources.cpus",
    "vcpus": "resources.cpus",
    "mem": "resources.memory",
    "ram": "resources.memory",
    "shm": "resources.shared_memory",
    "shm_size": "resources.shared_memory",
    "worker": "nodes",
    "workers": "nodes",
    "num_workers": "nodes",
    "num_nodes": "nodes",
    "node_count": "nodes",
    "nnodes": "nodes",
    "replicas": "nodes",
    "instances": "nodes",
    "count": "nodes",
    "tasks": "nodes",
    "nproc_per_node": "ranks_per_node",
    "procs_per_node": "ranks_per_node",
    "processes": "ranks_per_node",
    "ranks": "ranks_per_node",
    "entrypoint": "command",
    "entry_point": "command",
    "cmd": "command",
    "args": "command",
    "run": "command",
    "script": "command",
    "environment": "env",
    "envs": "env",
    "variables": "env",
    "env_vars": "env",
    "workdir": "working_directory",
    "cwd": "working_directory",
    "dir": "working_directory",
    "code": "source",
    "src": "source",
    "path": "source",
    "ignore": "exclude",
    "steps": "total_steps",
    "max_steps": "total_steps",
    "checkpoints": "checkpoint",
    "checkpointing": "checkpoint",
    "save_every": "checkpoint.every",
    "interval": "checkpoint.every",
    "timeout": "limits.max_runtime",
    "retries": "restart",
    "max_restarts": "restart",
    "max_retries": "restart",
    "restarts": "restart",
    "restart_policy": "restart",
    "backend": "target",
    "cloud": "target",
    "platform": "target",
    "cluster": "target.cluster",
    "spot": "target.capacity.market",
    "container": "image",
    "docker": "image",
    "title": "name",
    "job": "name",
    "type": "kind",
    "grace_period": "stop.grace",
    "notifications": "notify",
    "webhook": "notify",
    "resume_from": "init_from",
}
"""Words of other tools → path of ours."""

CLASSES = {
    "oom": "OutOfMemory",
    "oomkilled": "OutOfMemory",
    "memory": "OutOfMemory",
    "spot": "SpotInterruption",
    "preempted": "SpotInterruption",
    "preemption": "SpotInterruption",
    "interrupted": "SpotInterruption",
    "nodelost": "HostLost",
    "lost": "HostLost",
    "node": "HostLost",
    "exit": "NonZeroExit",
    "error": "NonZeroExit",
    "crash": "NonZeroExit",
    "failed": "NonZeroExit",
    "failure": "NonZeroExit",
    "exitcode": "NonZeroExit",
    "signal": "Killed",
    "timeout": "Hang",
    "stuck": "Hang",
    "capacity": "CapacityUnavailable",
    "nocapacity": "CapacityUnavailable",
    "disk": "DiskFull",
    "nospace": "DiskFull",
    "gpu": "GpuFault",
    "xid": "GpuFault",
    "network": "NetworkFault",
    "nccl": "NetworkFault",
    "driver": "DriverMismatch",
    "pull": "ImagePull",
    "image": "ImagePull",
}
"""Words of other tools, without case → failure class."""


def near(word: str, known: Iterable[str]) -> str | None:
    """The known word that looks most like this one, or None."""
    by_case = {name.lower().replace("-", "_"): name for name in known}
    asked = word[:60].lower().replace("-", "_")
    found = get_close_matches(asked, by_case, n=1, cutoff=0.7)
    return by_case[found[0]] if found else None


def field(word: str, here: Iterable[str], elsewhere: dict[str, str]) -> str | None:
    """The field meant by an unknown name.

    `here` are the fields of this mapping, `elsewhere` maps the last word of other paths to them.
    """
    asked = word[:60].lower().replace("-", "_")
    if asked in elsewhere:
        return elsewhere[asked]
    return FIELDS.get(asked) or near(word, here)


def failure_class(word: str, known: Iterable[str]) -> str | None:
    """The failure class meant by an unknown word."""
    asked = word.lower().replace("_", "").replace("-", "").replace(" ", "")
    return CLASSES.get(asked) or near(word, known)
