"""The environment of a rank: `torchrun`'s variables and our own. Pure."""

from __future__ import annotations

import os
from collections.abc import Mapping

from phalanx.frozen import frozen
from phalanx.plan.job import JobPlan
from phalanx.state.gang import World

LIBRARY_DEFAULTS = {
    "OMP_NUM_THREADS": "1",
    "PYTHONUNBUFFERED": "1",
}
"""Read by libraries when they are imported; what the user sets wins."""


@frozen
class Place:
    """Where the ranks of one slot run in one attempt."""

    job: str
    root: str
    slot: int
    attempt: int
    checkpoint_folder: str
    rank_folder: str
    agent_socket: str


def base_environment(plan: JobPlan, inherited: Mapping[str, str]) -> dict[str, str]:
    """What all processes of the slot share, also the warm parent: inherited, defaults, the user's.

    Secrets are references: locally each names a variable of the environment phalanx was
    started in.
    """
    environment = {**LIBRARY_DEFAULTS, **inherited, **dict(plan.env)}
    if "PATH" in dict(plan.env):
        # The interpreter's folder stays first, so that `python` is still to be found.
        first = inherited.get("PATH", "").partition(os.pathsep)[0]
        environment["PATH"] = os.pathsep.join(filter(None, (first, environment["PATH"])))
    for secret in plan.secrets:
        if secret.source == "env" and secret.reference in inherited:
            environment[secret.name] = inherited[secret.reference]
    return environment


def rank_environment(plan: JobPlan, world: World, place: Place, local_rank: int) -> dict[str, str]:
    """The variables of one rank (contract: docs/contracts.md, "What a training process sees")."""
    mine = next(m for m in world.members if m.slot == place.slot)
    first = world.members[0]
    node_rank = world.node_rank(place.slot)
    environment = {
        "RANK": str(world.first_rank(place.slot) + local_rank),
        "WORLD_SIZE": str(world.size),
        "LOCAL_RANK": str(local_rank),
        "LOCAL_WORLD_SIZE": str(mine.ranks),
        "GROUP_RANK": str(node_rank),
        "GROUP_WORLD_SIZE": str(len(world.members)),
        "NODE_RANK": str(node_rank),
        "ROLE_NAME": "default",
        "ROLE_RANK": str(world.first_rank(place.slot) + local_rank),
        "ROLE_WORLD_SIZE": str(world.size),
        "MASTER_ADDR": first.address,
        "MASTER_PORT": str(first.port),
        "TORCHELASTIC_RUN_ID": place.job,
        "TORCHELASTIC_RESTART_COUNT": str(place.attempt),
        "TORCHELASTIC_MAX_RESTARTS": "0",
        "TORCHELASTIC_USE_AGENT_STORE": str(first.agent_store),
        "TORCHELASTIC_ERROR_FILE": f"{place.rank_folder}/error.json",
        "PHALANX_JOB": place.job,
        "PHALANX_ROOT": place.root,
        "PHALANX_ATTEMPT": str(place.attempt),
        "PHALANX_SLOT": str(place.slot),
        "PHALANX_LAUNCHER": plan.launcher,
        "PHALANX_RESUME": world.checkpoint or "",
        "PHALANX_CHECKPOINT_DIR": place.checkpoint_folder,
        "PHALANX_RANK_DIR": place.rank_folder,
        "PHALANX_AGENT_SOCKET": place.agent_socket,
        "PHALANX_SAVE_EVERY": _save_every(plan),
    }
    if plan.total_steps is not None:
        environment["PHALANX_TOTAL_STEPS"] = str(plan.total_steps)
    if plan.source_digest is not None:
        environment["PHALANX_SOURCE_DIGEST"] = plan.source_digest
    return environment


def _save_every(plan: JobPlan) -> str:
    if plan.checkpoint.every_steps is not None:
        return f"{plan.checkpoint.every_steps}steps"
    if plan.checkpoint.every_s is not None:
        return f"{plan.checkpoint.every_s:g}s"
    return "auto"


def local_ranks(plan: JobPlan) -> int:
    """Processes that the agent itself starts: `torchrun` and `none` get one per slot."""
    return plan.ranks_per_node if plan.launcher == "ranks" else 1
