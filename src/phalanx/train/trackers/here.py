"""Where a tracker's run stands: the job, the attempt, and the step that it goes on from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from phalanx.errors import InputError
from phalanx.frozen import frozen
from phalanx.names import Keys, rank_run, split_checkpoint_name
from phalanx.state.read import read_world
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id
from phalanx.train.environment import Surroundings, surroundings


@frozen
class Here:
    """One rank of one attempt, as its tracker needs to know it."""

    rank: Surroundings
    run: str
    """Id of the job's run: the same in every attempt, another for every job of every root."""
    files: str
    """The job's folder for files of its own."""
    done: int
    """Steps that were done when this attempt began."""

    @property
    def keys(self) -> Keys:
        """Keys of the job."""
        return Keys(self.rank.job)

    @property
    def is_first(self) -> bool:
        """Whether no attempt was before this one."""
        return self.rank.attempt == 0

    @property
    def run_of_rank(self) -> str:
        """Id of this rank's run; that of rank 0 is the job's."""
        return rank_run(self.run, self.rank.rank)

    def store(self) -> Store:
        """The job's root."""
        return Store(FilesObjects.open(self.rank.root), writer_id())


def here(env: Mapping[str, str] | None = None) -> Here | None:
    """What the environment tells; None outside phalanx. Raises `InputError` when it is broken."""
    # A framework that saves by itself may be tracked all the same.
    env = {**(os.environ if env is None else env), "PHALANX_CHECKPOINT_MODE": ""}
    rank = surroundings(env)
    if rank is None:
        return None
    files = env.get("PHALANX_CHECKPOINT_DIR") or f"{rank.root}/{Keys(rank.job).base}/files"
    return Here(rank, env.get("PHALANX_RUN_ID") or rank.job, files, _done(rank))


def _done(rank: Surroundings) -> int:
    """The world says it; without one, the checkpoint's name."""
    store = Store(FilesObjects.open(rank.root), writer_id())
    world = read_world(store, Keys(rank.job), rank.attempt)
    if world is not None:
        return world.checkpoint_step
    named = split_checkpoint_name(rank.resume) if rank.resume else None
    return named[0] if named else 0


def library(name: str, package: str) -> Any:
    """A tracker's module. Raises `InputError` when it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(f"{package} cannot be imported: {error}", hint="install it") from error
