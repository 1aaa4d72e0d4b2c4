"""The environment of a rank: `torchrun`'s variables and our own. Pure."""

from __future__ import annotations

import os
from collections.abc import Mapping

from phalanx.frozen import frozen, replace
from phalanx.names import Keys, rank_run
from phalanx.plan.job import JobPlan
from phalanx.redaction.redactor import Redactor
from phalanx.redaction.values import declared_values, named_values
from phalanx.state.gang import World

LIBRARY_DEFAULTS = {
    "GLOO_SOCKET_IFNAME": "lo",
    "OMP_NUM_THREADS": "1",
    "PYTHONUNBUFFERED": "1",
}
"""Read by libraries when they are imported; what the user sets wins."""


@frozen
class Tracking:
    """The job in experiment trackers."""

    run: str = ""
    """Id of its run: the same in every attempt."""
    is_wandb: bool = False
    """Weights & Biases is to use it."""

    def variables(self, rank: int) -> dict[str, str]:
        """What one rank is told of it."""
        ours = {"PHALANX_RUN_ID": self.run}
        return {**ours, "WANDB_RUN_ID": rank_run(self.run, rank)} if self.is_wandb else ours


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
    tracking: Tracking = Tracking()


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


def redactor_of(plan: JobPlan, environment: Mapping[str, str]) -> Redactor:
    """Hides the job's secrets, and the values of variables that have the name of one."""
    declared = declared_values((secret.name for secret in plan.secrets), environment)
    return Redactor({**declared, **named_values(environment), **declared})


def tracking(base: Mapping[str, str], run: str) -> Tracking:
    """Weights & Biases gets the run's id in a job that says `WANDB_RESUME: allow` and names none.

    Without that word nothing is set: a script that opens several runs keeps them apart.
    """
    is_wandb = base.get("WANDB_RESUME") == "allow" and not base.get("WANDB_RUN_ID")
    return Tracking(run, is_wandb)


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
        **_beginning(plan, world, place),
        "PHALANX_CHECKPOINT_DIR": place.checkpoint_folder,
        "PHALANX_RANK_DIR": place.rank_folder,
        "PHALANX_AGENT_SOCKET": place.agent_socket,
        "PHALANX_SAVE_EVERY": _save_every(plan),
        **place.tracking.variables(world.first_rank(place.slot) + local_rank),
    }
    if _is_watched(plan):
        environment["PHALANX_CHECKPOINT_MODE"] = plan.checkpoint.mode
    if plan.is_elastic:
        each = mine.ranks if plan.launcher == "ranks" else plan.ranks_per_node
        environment["PHALANX_MIN_WORLD_SIZE"] = str(plan.fewest * each)
        environment["PHALANX_MAX_WORLD_SIZE"] = str(plan.nodes * each)
    if plan.global_batch is not None:
        environment["PHALANX_GLOBAL_BATCH"] = str(plan.global_batch)
    if plan.total_steps is not None:
        environment["PHALANX_TOTAL_STEPS"] = str(plan.total_steps)
    if plan.source_digest is not None:
        environment["PHALANX_SOURCE_DIGEST"] = plan.source_digest
    return environment


def _beginning(plan: JobPlan, world: World, place: Place) -> dict[str, str]:
    """What the ranks restore, and the file or folder that the job began from; "" for none."""
    resume = "" if _is_watched(plan) else world.checkpoint or ""
    origin, init_from = plan.init_from, ""
    if origin is not None:
        held = f"{place.root}/{Keys(place.job).init}/{origin.checkpoint}"
        init_from = origin.weights or held
    return {"PHALANX_RESUME": resume, "PHALANX_INIT_FROM": init_from}


def _is_watched(plan: JobPlan) -> bool:
    """Whether checkpoints are put into a folder for the script to find, not read by phalanx."""
    return plan.checkpoint.mode == "watch"


def _save_every(plan: JobPlan) -> str:
    if plan.checkpoint.every_steps is not None:
        return f"{plan.checkpoint.every_steps}steps"
    if plan.checkpoint.every_s is not None:
        return f"{plan.checkpoint.every_s:g}s"
    return "auto"


def local_ranks(plan: JobPlan) -> int:
    """Processes that the agent itself starts: `torchrun` and `none` get one per slot."""
    return plan.ranks_per_node if plan.launcher == "ranks" else 1


def every_rank(plan: JobPlan, world: World) -> World:
    """The world with all its ranks: under `torchrun` an agent counts the launcher alone."""
    if plan.launcher != "torchrun":
        return world
    members = tuple(replace(one, ranks=plan.ranks_per_node) for one in world.members)
    return replace(world, members=members)
