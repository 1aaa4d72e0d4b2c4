"""All ranks of one checkpoint, opened and found right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from phalanx.checkpoint.equal import Opened, is_equal
from phalanx.checkpoint.manifest import PER_RANK, Manifest
from phalanx.checkpoint.reading import open_shard
from phalanx.errors import CheckpointUnreadable

RANDOM = "phalanx.random"
"""Name under which each rank keeps its random generators."""

if TYPE_CHECKING:
    from phalanx.store.store import Store


def open_rank(store: Store, folder: str, manifest: Manifest, rank: int) -> Opened:
    """One rank's shard and the nodes of its values, after reading every byte.

    Raises `CheckpointUnreadable`, or `StoreError` when the root refuses.
    """
    files = manifest.parts[rank].shards
    if len(files) != 1:
        raise CheckpointUnreadable(f"{manifest.name}: rank {rank} has {len(files)} files")
    opened = open_shard(store, folder, files[0])
    tree = opened.tree()
    nodes: Any = tree.get("dict") if type(tree) is dict else None
    if type(nodes) is not dict:
        raise CheckpointUnreadable(f"{manifest.name}: the state of rank {rank} is no dict")
    return opened, nodes


def open_all(store: Store, folder: str, manifest: Manifest) -> list[Opened]:
    """Every rank's shard. Raises as `open_rank`."""
    return [open_rank(store, folder, manifest, rank) for rank in range(manifest.world_size)]


def differing(store: Store, folder: str, manifest: Manifest) -> tuple[str, ...]:
    """Names of values that are not one value for all ranks, random generators left out.

    Raises as `open_rank`.
    """
    own = [p.name for p in manifest.parts[0].layout if p.placement == PER_RANK]
    ranks = open_all(store, folder, manifest)
    return tuple(name for name in own if name != RANDOM and not is_equal(ranks, name))
