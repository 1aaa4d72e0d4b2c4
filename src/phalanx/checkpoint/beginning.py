"""A checkpoint of another job becomes the beginning of a new one.

The new job holds it under a second name, so it stands by itself: the other job may prune or be
removed. A hard link costs no space; where the root has none, the bytes are copied.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from phalanx.checkpoint.manifest import Manifest, read_manifest
from phalanx.errors import CheckpointUnreadable
from phalanx.frozen import frozen
from phalanx.names import Keys
from phalanx.plan.lineage import Origin
from phalanx.state import codec

if TYPE_CHECKING:
    from phalanx.store.store import Store


@frozen
class Read:
    """A manifest, and the SHA-256 of the very bytes that were read."""

    manifest: Manifest
    digest: str


def read_exactly(store: Store, key: str, name: str) -> Read:
    """The manifest of checkpoint `name` at `key`. Raises `CheckpointUnreadable`."""
    found = store.read(key)
    if found is None:
        raise CheckpointUnreadable(f"{name} has no manifest")
    return Read(read_manifest(found.data, name), hashlib.sha256(found.data).hexdigest())


def held(keys: Keys, name: str) -> str:
    """The folder in which a job holds the checkpoint that it began from."""
    return f"{keys.init}/{name}"


def claim(store: Store, keys: Keys, origin: Origin) -> bool:
    """Make this number of a job the caller's own; False when another submit was faster.

    Raises `StoreError` when the root refuses.
    """
    return store.create(keys.origin, codec.dumps(origin))


def hold(store: Store, keys: Keys, origin: Origin) -> None:
    """Give the checkpoint of `origin`, if it names one, a second name below the job of `keys`.

    Raises `CheckpointUnreadable` when the checkpoint is gone or no longer the one of `origin`,
    `StoreError` when the root refuses.
    """
    if origin.job is None or origin.checkpoint is None:
        return
    name, theirs = origin.checkpoint, Keys(origin.job)
    found = store.read(theirs.manifest(name))
    if found is None or hashlib.sha256(found.data).hexdigest() != origin.digest:
        raise CheckpointUnreadable(f"{name} of {origin.job} was pruned or replaced meanwhile")
    manifest = read_manifest(found.data, name)
    folder = held(keys, name)
    for file in manifest.shards:
        source = f"{theirs.checkpoint(name)}/{file.name}"
        if not store.copy_blob(source, f"{folder}/{file.name}"):
            raise CheckpointUnreadable(f"{source} is missing")
    store.create(f"{folder}/manifest", found.data)


def let_go(store: Store, keys: Keys) -> None:
    """Undo `claim` and `hold`, for a job that does not come to be."""
    store.delete(keys.init)


def read_origin(store: Store, keys: Keys) -> Origin | None:
    """What a job began from; None when it began from nothing. Raises `CheckpointUnreadable`."""
    found = store.read(keys.origin)
    if found is None:
        return None
    try:
        return codec.loads(Origin, found.data)
    except ValueError as error:
        raise CheckpointUnreadable(f"{keys.origin} is malformed: {error}") from error
