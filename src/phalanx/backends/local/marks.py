"""The environment variables by which processes of a job are known. Pure.

Everything that a task starts inherits `PHALANX_TASK` and `PHALANX_ROOT`, so that it is found
again in /proc whatever became of its parents. A controller is no part of any task: whoever
starts one from inside a task gives it `outside_environment`.
"""

from __future__ import annotations

from collections.abc import Mapping

JOB = "PHALANX_JOB"
ROOT = "PHALANX_ROOT"
SLOT = "PHALANX_SLOT"
INCARNATION = "PHALANX_INCARNATION"
TRIES = "PHALANX_TRIES"
TASK = "PHALANX_TASK"
ADDRESS = "PHALANX_ADDRESS"
DEVICES = "PHALANX_DEVICES"
"""GPUs of the whole machine that phalanx may use, comma-separated; `""` means none."""
CONTROLLER = "PHALANX_CONTROLLER"
"""Set on a controller: it and what it starts belong to no task, even below an agent."""
METADATA = "PHALANX_METADATA"
"""Address of the instance metadata service: of the machine, so for every task on it."""

CUDA = "CUDA_VISIBLE_DEVICES"

_RANK_NAMES = frozenset(
    {
        "RANK",
        "WORLD_SIZE",
        "LOCAL_RANK",
        "LOCAL_WORLD_SIZE",
        "GROUP_RANK",
        "GROUP_WORLD_SIZE",
        "NODE_RANK",
        "ROLE_NAME",
        "ROLE_RANK",
        "ROLE_WORLD_SIZE",
        "MASTER_ADDR",
        "MASTER_PORT",
    }
)
_OURS = ("PHALANX_", "TORCHELASTIC_")


def plain_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What a task may inherit: all but the names of ranks and of other jobs."""
    return {
        name: value
        for name, value in environ.items()
        if name == METADATA or (name not in _RANK_NAMES and not name.startswith(_OURS))
    }


def outside_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for a controller that is started from anywhere, also inside a task.

    It keeps `PHALANX_DEVICES`, so that a controller revived by an agent still knows all GPUs of
    the machine and not only those of the agent's slot.
    """
    kept = plain_environment(environ)
    if DEVICES in environ:
        kept[DEVICES] = environ[DEVICES]
        kept[CUDA] = environ[DEVICES]
    return {**kept, CONTROLLER: "1"}


def task_environment(body: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of an agent: inherited, defaults, secrets by reference, then the body's own.

    Raises `KeyError` with the name of a referenced variable that is not set.
    """
    defaults, own = _texts(body["defaults"]), _texts(body["env"])
    secrets = {name: environ[reference] for name, reference in _texts(body["secrets"]).items()}
    return {**defaults, **plain_environment(environ), **secrets, **own}


def _texts(value: object) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}
