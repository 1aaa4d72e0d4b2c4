"""A checkpoint of mode `watch` in plain form: the files as the framework wrote them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from phalanx.checkpoint.folder.record import read_index
from phalanx.checkpoint.manifest import Manifest
from phalanx.checkpoint.reading import read_file
from phalanx.names import Keys

if TYPE_CHECKING:
    from phalanx.store.store import Store

_CHUNK = 16 << 20


def unfold(
    store: Store, keys: Keys, manifest: Manifest, to: str, tell: Callable[[int, int], None]
) -> dict[str, int]:
    """Write every file of a checkpoint below the folder `to`; their sizes by name.

    Raises `CheckpointUnreadable` for damage, `OSError` when a file cannot be written.
    """
    index = read_index(store, keys, manifest)
    blobs = {shard.name: shard for shard in manifest.shards}
    total, done = sum(kept.size for kept in index.files), 0
    for kept in index.files:
        path = os.path.join(to, kept.name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = read_file(store, keys.checkpoint(manifest.name), blobs[kept.blob])
        with open(path, "xb") as file:
            for at in range(0, data.nbytes, _CHUNK):
                file.write(data[at : at + _CHUNK])
            file.flush()
            os.fsync(file.fileno())
        done += kept.size
        tell(done, total)
    for name, target in index.links:
        path = os.path.join(to, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target, path)
    return {kept.name: kept.size for kept in index.files}
