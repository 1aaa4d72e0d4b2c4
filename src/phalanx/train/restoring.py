"""Every rank restores exactly the checkpoint that its world names, and reads every byte first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phalanx.checkpoint.manifest import PER_RANK, Manifest
from phalanx.checkpoint.reading import load_manifest, open_shard
from phalanx.checkpoint.shard import Shard
from phalanx.checkpoint.untree import decode
from phalanx.errors import CheckpointError, CheckpointUnreadable
from phalanx.names import Keys
from phalanx.store.store import Store

RANDOM = "phalanx.random"
"""Name under which each rank keeps its random generators."""


class Checkpoint:
    """A committed checkpoint as one rank of a world of `world_size` reads it."""

    def __init__(self, store: Store, keys: Keys, name: str) -> None:
        """Raises `CheckpointUnreadable`, or `StoreError` when the root refuses."""
        self.name = name
        self._store = store
        self._folder = keys.checkpoint(name)
        self.manifest: Manifest = load_manifest(store, self._folder, name)
        self._opened: dict[int, tuple[Shard, dict[str, Any]]] = {}

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

    def _open(self, rank: int) -> tuple[Shard, dict[str, Any]]:
        """One rank's shard and the nodes of its values."""
        if rank not in self._opened:
            files = self.manifest.parts[rank].shards
            if len(files) != 1:
                raise CheckpointUnreadable(f"{self.name}: rank {rank} has {len(files)} files")
            shard = open_shard(self._store, self._folder, files[0])
            tree = shard.tree()
            nodes = tree.get("dict") if type(tree) is dict else None
            if type(nodes) is not dict:
                raise CheckpointUnreadable(f"{self.name}: the state of rank {rank} is no dict")
            self._opened[rank] = shard, nodes
        return self._opened[rank]

    def _demand_equal(self, name: str) -> None:
        """Values that every rank wrote are one value when all wrote the same."""
        first, nodes = self._open(0)
        for rank in range(1, self.manifest.world_size):
            other, others = self._open(rank)
            node = nodes.get(name)
            if node != others.get(name) or not _same_bytes(first, other, node):
                raise CheckpointError(
                    f"state[{name!r}] differs between the {self.manifest.world_size} ranks of "
                    f"{self.name}, so another number of ranks cannot take it",
                    hint="resume with as many ranks as saved it",
                )


def _same_bytes(one: Shard, other: Shard, node: Any) -> bool:
    known = set(one.names) & set(other.names)
    return all(one.bytes(name) == other.bytes(name) for name in _entries(node) if name in known)


def _entries(node: Any) -> list[str]:
    """Names of all entries below a node, and strings of the state that look like one."""
    if type(node) is list:
        return [name for item in node for name in _entries(item)]
    if type(node) is not dict:
        return []
    own = [node["entry"]] if type(node.get("entry")) is str else []
    return own + [name for item in node.values() for name in _entries(item)]
