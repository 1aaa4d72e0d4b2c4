"""The user's command: can the warm parent run it, and what does each launcher make of it? Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from phalanx.frozen import frozen
from phalanx.plan.job import JobPlan
from phalanx.state.gang import World

_PYTHON = r"(.*/)?python(3(\.\d+)?)?"
_HARMLESS_FLAGS = frozenset({"-u", "-B"})


@frozen
class Script:
    """A Python program as `python script.py ARGS` or `python -m module ARGS` names it."""

    target: str
    is_module: bool
    arguments: tuple[str, ...]


def python_script(command: Sequence[str]) -> Script | None:
    """The script, when the command is plain Python that a warm parent can run; else None."""
    if not command or not re.fullmatch(_PYTHON, command[0]):
        return None
    rest = list(command[1:])
    while rest and rest[0] in _HARMLESS_FLAGS:
        rest.pop(0)
    if not rest:
        return None
    if rest[0] == "-m":
        return Script(rest[1], True, tuple(rest[2:])) if len(rest) > 1 else None
    if rest[0].startswith("-"):
        return None
    return Script(rest[0], False, tuple(rest[1:]))


def is_python(command: Sequence[str]) -> bool:
    """Whether the command starts a Python interpreter."""
    return bool(command) and re.fullmatch(_PYTHON, command[0]) is not None


def launcher_argv(plan: JobPlan, world: World, slot: int, python: str) -> list[str]:
    """The command line of one process that the agent starts cold."""
    command = list(plan.command)
    if plan.launcher != "torchrun":
        return command
    first = world.members[0]
    script = python_script(command)
    if script is None:
        words = ["--no-python", *command]
    elif script.is_module:
        words = ["--module", script.target, *script.arguments]
    else:
        words = [script.target, *script.arguments]
    return [
        python,
        "-m",
        "torch.distributed.run",
        f"--nnodes={len(world.members)}",
        f"--nproc-per-node={plan.ranks_per_node}",
        f"--node-rank={world.node_rank(slot)}",
        f"--master-addr={first.address}",
        f"--master-port={first.port}",
        "--max-restarts=0",
        *words,
    ]
