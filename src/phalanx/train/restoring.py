"""Every rank restores exactly the checkpoint that its world names, and reads every byte first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phalanx.checkpoint.equal import Opened, is_equal
from phalanx.checkpoint.manifest import PER_RANK, Manifest
from phalanx.checkpoint.ranks import RANDOM, open_rank
from phalanx.checkpoint.reading import load_manifest
from phalanx.checkpoint.untree import decode
from phalanx.errors import CheckpointError, CheckpointUnreadable
from phalanx.names import Keys
from phalanx.store.store import Store

__all__ = ["RANDOM", "Checkpoint"]


class Checkpoint:
    """A committed checkpoint as one rank of a world of `world_size` reads it."""

    def __init__(self, store: Store, keys: Keys, name: str, folder: str = "") -> None:
        """`folder` is where it lies, else among the job's own.

        Raises `CheckpointUnreadable`, or `StoreError` when the root refuses.
        """
        self.name = name
        self._store = store
        self._folder = folder or keys.checkpoint(name)
        self.manifest: Manifest = load_manifest(store, self._folder, name)
        self._opened: dict[int, Opened] = {}

    @property
    def placements(self) -> Mapping[str, str]:
        """Placement of every value, by name."""
        return {piece.name: piece.placement for piece in self.manifest.parts[0].layout}

    def values(self, names: Mapping[str, str], rank: int, world_size: int) -> dict[str, Any]:
        """Saved values by name, for one rank; `names` are those wanted, with their placement.

        Raises `CheckpointError` when a value that differs between ranks would have to be spread
        over another number of them.
        """
        same_world = world_size == self.manifest.world_size
        found: dict[int, list[str]] = {}
        for name, placement in names.items():
            if placement == PER_RANK and not same_world:
                self._demand_equal(name)
            reads_own = placement == PER_RANK and same_world
            found.setdefault(rank if reads_own else 0, []).append(name)
        values: dict[str, Any] = {}
        for source, wanted in found.items():
            values.update(self._decode(source, wanted))
        return values

    def _decode(self, rank: int, names: list[str]) -> dict[str, Any]:
        shard, nodes = self._open(rank)
        missing = [name for name in names if name not in nodes]
        if missing:
            raise CheckpointUnreadable(f"{self.name}: rank {rank} holds no {missing[0]!r}")
        tree = {"dict": {name: nodes[name] for name in names}}
        try:
            values: dict[str, Any] = decode(tree, shard.bytes)
        except CheckpointUnreadable as error:
            raise CheckpointUnreadable(f"{self.name}, rank {rank}: {error.message}") from error
        return values

    def _open(self, rank: int) -> Opened:
        """One rank's shard and the nodes of its values."""
        if rank not in self._opened:
            self._opened[rank] = open_rank(self._store, self._folder, self.manifest, rank)
        return self._opened[rank]

    def _demand_equal(self, name: str) -> None:
        """Values that every rank wrote are one value when all wrote the same."""
        ranks = [self._open(rank) for rank in range(self.manifest.world_size)]
        if not is_equal(ranks, name):
            raise CheckpointError(
                f"state[{name!r}] differs between the {self.manifest.world_size} ranks of "
                f"{self.name}, so another number of ranks cannot take it",
                hint="resume with as many ranks as saved it; an elastic job needs equal state",
            )
