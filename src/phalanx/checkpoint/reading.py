"""Reading a checkpoint: every byte is held against the manifest's digests before it is used."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from phalanx.checkpoint import shard
from phalanx.checkpoint.manifest import Manifest, ShardFile, read_manifest
from phalanx.checkpoint.shard import Shard
from phalanx.errors import CheckpointUnreadable, InputError, StoreError, StoreUnavailable
from phalanx.store.digest import digest_of

if TYPE_CHECKING:
    from phalanx.store.store import Store

_OF_THIS_FILE = frozenset(
    {errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EIO, errno.ENODEV, errno.EINVAL}
)
"""Refusals of one file, not of the whole root."""


def load_manifest(store: Store, folder: str, name: str) -> Manifest:
    """The manifest of the checkpoint in `folder`.

    Raises `CheckpointUnreadable` when it is missing or wrong, `StoreError` when the root refuses.
    """
    try:
        found = store.read(f"{folder}/manifest" if folder else "manifest")
    except StoreError as error:
        if _is_of_the_root(error):
            raise
        raise CheckpointUnreadable(f"the manifest of {name}: {error.message}") from error
    if found is None:
        raise CheckpointUnreadable(f"{name} has no manifest")
    return read_manifest(found.data, name)


def _is_of_the_root(error: StoreError) -> bool:
    """Whether an error says nothing about the one object that was read."""
    cause = error.__cause__
    if isinstance(cause, OSError):
        return cause.errno not in _OF_THIS_FILE
    return isinstance(error, StoreUnavailable)


def open_shard(store: Store, folder: str, file: ShardFile) -> Shard:
    """One shard, read whole and found right.

    Raises `CheckpointUnreadable`, naming the file, when it is missing, short, altered or
    malformed; `StoreError` when the root refuses.
    """
    view = read_file(store, folder, file)
    return shard.parse(view, f"{folder}/{file.name}" if folder else file.name)


def read_file(store: Store, folder: str, file: ShardFile) -> memoryview:
    """The bytes of one file of a checkpoint, as long and with the digest that were written.

    Raises `CheckpointUnreadable`, naming the file, and `StoreError` when the root refuses.
    """
    key = f"{folder}/{file.name}" if folder else file.name
    try:
        view = store.get_blob(key)
    except (StoreError, InputError) as error:
        if isinstance(error, StoreError) and _is_of_the_root(error):
            raise
        raise CheckpointUnreadable(f"{key}: {error.message}") from error
    if view is None:
        raise CheckpointUnreadable(f"{key} is missing")
    if view.nbytes != file.bytes:
        raise CheckpointUnreadable(f"{key} has {view.nbytes} bytes where {file.bytes} were written")
    if digest_of(view) != file.sha256:
        raise CheckpointUnreadable(f"{key} was altered: its sha256 is not the one written")
    return view


def problems(store: Store, folder: str, name: str) -> tuple[str, ...]:
    """Everything that is wrong with a checkpoint, after reading every byte; () when it is whole."""
    try:
        manifest = load_manifest(store, folder, name)
    except CheckpointUnreadable as error:
        return (error.message,)
    found = []
    for file in manifest.shards:
        try:
            if manifest.is_folder:
                read_file(store, folder, file)
            else:
                open_shard(store, folder, file).tree()
        except CheckpointUnreadable as error:
            found.append(error.message)
    return tuple(found)
