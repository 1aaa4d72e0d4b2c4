"""What a checkpoint of this kind says of itself: the folder as it was, beside the files' bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phalanx.checkpoint.folder.scan import Entry
from phalanx.checkpoint.manifest import Manifest, ShardFile, is_inside
from phalanx.checkpoint.reading import read_file
from phalanx.errors import CheckpointUnreadable
from phalanx.frozen import frozen
from phalanx.names import Keys
from phalanx.state import codec

if TYPE_CHECKING:
    from phalanx.store.store import Store

PIECE = "files"
"""Name of the one piece that such a checkpoint holds."""
INDEX = "files/index"


@frozen
class Kept:
    """One file: its name in the folder, and the file of the checkpoint that holds its bytes."""

    name: str
    blob: str
    size: int
    mtime_ns: int
    mode: int = 0o600


@frozen
class Known:
    """A file that was complete when the commit was made, and is not part of it."""

    name: str
    size: int
    mtime_ns: int


@frozen
class Start:
    """What lay in the folder before the job began: it came with the source."""

    files: tuple[Known, ...] = ()


@frozen
class FolderIndex:
    """The folder at the commit."""

    kind: str
    """Kind of the newest checkpoint in it."""
    newest: str
    """Its name there."""
    files: tuple[Kept, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """(name, target)."""
    known: tuple[Known, ...] = ()
    """Older checkpoints that may stay when this one is put back."""
    version: int = 1


def known_of(entry: Entry) -> Known:
    """How a file is remembered."""
    return Known(entry.name, entry.size, entry.mtime_ns)


def read_index(store: Store, keys: Keys, manifest: Manifest) -> FolderIndex:
    """The index of one checkpoint, its digest held against the manifest.

    Raises `CheckpointUnreadable` when it is missing, altered, malformed or names a file outside
    the folder or the checkpoint; `StoreError` when the root refuses.
    """
    blobs = {shard.name: shard for shard in manifest.shards}
    if INDEX not in blobs:
        raise CheckpointUnreadable(f"{manifest.name} has no index of its files")
    data = bytes(read_file(store, keys.checkpoint(manifest.name), blobs[INDEX]))
    try:
        index = codec.loads(FolderIndex, data)
        problem = _problem_of(index, blobs)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointUnreadable(f"the index of {manifest.name} is malformed: {error}") from error
    if problem:
        raise CheckpointUnreadable(f"the index of {manifest.name} names {problem}")
    return index


def _problem_of(index: FolderIndex, blobs: dict[str, ShardFile]) -> str:
    for file in index.files:
        if not is_safe(file.name):
            return f"the file {file.name[:80]!r}, which is not inside the folder"
        if file.blob not in blobs or blobs[file.blob].bytes != file.size:
            return f"{file.name}, whose bytes it does not hold"
    for name, target in index.links:
        if not is_safe(name) or target.startswith("/") or not target:
            return f"the link {name[:80]!r}, which leaves the folder"
    return ""


def is_safe(name: object) -> bool:
    """Whether a name stays inside the folder that it is put into."""
    return type(name) is str and is_inside(name.replace(":", "_"))
