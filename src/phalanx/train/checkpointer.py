"""`Checkpointer`: the two calls that make an ordinary training loop survive.

checkpointer = Checkpointer({"model": model, "optimizer": optimizer, "sampler": sampler})
for step in range(checkpointer.restore(), total_steps):
    ...
    checkpointer.step(step, loss=loss)
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Collection, Mapping
from types import TracebackType
from typing import Any

from phalanx.checkpoint.manifest import REPLICATED, Piece
from phalanx.errors import InputError
from phalanx.train import values
from phalanx.train.environment import every_of, surroundings
from phalanx.train.rank import RANDOM, Rank
from phalanx.train.telling import say


class Checkpointer:
    """Saves and restores `state` as the job's checkpoints, and reports progress.

    `state` maps names to modules, optimizers, schedulers, scalers, samplers (anything with
    `state_dict` and `load_state_dict`), random generators, tensors, arrays and plain values.
    Values are read at each save and put back in place; a number, string or tuple is replaced in
    `state` itself. The random generators of Python, numpy and torch are always kept, per rank.

    `every` (`100`, `"100steps"`, `"30s"`, `"auto"`) goes before the job file's. Modules,
    optimizers, schedulers, scalers and tensors are taken as equal on all ranks and written by
    rank 0; everything else is written by every rank. `per_rank` and `replicated` name exceptions:
    a model whose ranks hold different pieces belongs in `per_rank`.

    Outside phalanx all calls do nothing, so the same script runs under plain python or torchrun.
    """

    def __init__(
        self,
        state: dict[str, Any],
        *,
        every: int | float | str | None = None,
        per_rank: Collection[str] = (),
        replicated: Collection[str] = (),
    ) -> None:
        self.state = state
        _check_names(state, per_rank, replicated)
        self._placements = {
            name: values.placement(name, value, per_rank, replicated)
            for name, value in state.items()
        }
        self._done = 0
        here = surroundings(os.environ)
        if here is None:
            self._rank = None
            if os.environ.get("RANK", "0") == "0":
                say("not started by phalanx: progress is not reported, nothing is saved or resumed")
            return
        if here.is_elastic:
            _check_elastic(state, per_rank)
        self._rank = Rank(here, here.every if every is None else every_of(every))
        self._rank.watch(state)
        atexit.register(self._rank.at_exit)

    def watch(self, state: Mapping[str, Any]) -> None:
        """Time this rank's work on modules and optimizers that were made after this object."""
        if self._rank is not None:
            self._rank.watch(state)

    def restore(self) -> int:
        """Bring the state to the checkpoint that all ranks resume from; returns its step.

        That is the number of optimizer steps done, so the index of the next one; 0 when there is
        nothing to resume from. Raises `CheckpointError` when the checkpoint does not fit the
        state; ends the process when it cannot be read, and the gang falls back to an older one.
        """
        rank = self._rank
        if rank is None:
            return 0
        values.try_out(self.state)
        modules = [name for name, value in self.state.items() if values.takes_weights(value)]
        self._done, saved = rank.restore(self._placements, modules)
        for name in self._placements:
            if name in saved:
                values.put_back(self.state, name, saved[name])
        rank.begin(saved.get(RANDOM))
        return self._done

    def step(self, step: int, **metrics: Any) -> None:
        """Optimizer step number `step` (from 0) is done; call it once a step, on every rank.

        Metrics are numbers or one-element tensors; reading them never waits for the device more
        than twice a second. Saves when due and after the last step. Raises `StateUnsupported`.
        """
        rank = self._rank
        if rank is None:
            return
        self._done = step + 1
        if rank.stepped(self._done, metrics):
            rank.save(self._collect, self._layout(rank.index))
        rank.settled()
        if rank.is_last(self._done):
            rank.finish()

    def phase(self, name: str) -> Phase:
        """Announce that something other than training goes on (`eval`), until the next step.

        As a context manager: until its end.
        """
        if self._rank is not None:
            self._rank.phase(name)
        return Phase(self)

    def finish(self) -> None:
        """Training ends here: save, if the last step is not saved yet, and wait for the commit.

        Needless when the job file names `total_steps` and all are done, or in a `with` block.
        Ends the process with one line and exit code 1 when the last save fails.
        """
        rank = self._rank
        if rank is None or rank.finished:
            return
        if rank.is_unsaved(self._done):
            rank.save(self._collect, self._layout(rank.index))
        rank.finish()

    def __enter__(self) -> Checkpointer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.finish()

    def _layout(self, index: int) -> tuple[Piece, ...]:
        kept = values.written_by(index, self._placements)
        return tuple(Piece(name, self._placements[name]) for name in kept)

    def _collect(self, index: int) -> Mapping[str, Any]:
        kept = values.written_by(index, self._placements)
        return {name: values.collect(self.state[name]) for name in kept}


class Phase:
    """An announced phase, for use in a `with` block."""

    def __init__(self, checkpointer: Checkpointer) -> None:
        self._checkpointer = checkpointer

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._checkpointer.phase("train")


def _check_elastic(state: Mapping[str, Any], per_rank: Collection[str]) -> None:
    """Pieces of one number of ranks fit no other: such a job has a fixed number of nodes."""
    for name in per_rank:
        if values.placement(name, state[name], (), ()) == REPLICATED:
            raise InputError(
                f"state[{name!r}] has a piece on every rank, so this job cannot change its size",
                hint="write a fixed number of nodes, such as nodes: 4",
            )


def _check_names(state: object, per_rank: Collection[str], replicated: Collection[str]) -> None:
    if not isinstance(state, dict) or not all(type(name) is str for name in state):
        raise InputError("the state is a dict from names to values")
    reserved = [name for name in state if name.startswith("phalanx.")]
    if reserved:
        raise InputError(f"state[{reserved[0]!r}]: names that begin with phalanx. are reserved")
    unknown = sorted((set(per_rank) | set(replicated)) - set(state))
    if unknown:
        raise InputError(f"{unknown[0]!r} is not a name in the state")
    for name, value in state.items():
        values.check(name, value)
