"""Copy files out of a folder that is being written to, and be sure that they hold together.

Every file is held against the look before and after its bytes were read, and what was stored is
judged once more by itself, with its checksums: a file that was overwritten meanwhile is refused.
Small files are copied many at once, and their names made durable together.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from phalanx.checkpoint.folder.forms import Form, form_of, of_bytes
from phalanx.checkpoint.folder.record import INDEX, PIECE, FolderIndex, Kept
from phalanx.checkpoint.folder.scan import Entry, entry_at, entry_of
from phalanx.checkpoint.folder.together import SMALL_BYTES, Tally, together
from phalanx.checkpoint.manifest import FOLDER, Part, Piece, ShardFile
from phalanx.errors import CheckpointError
from phalanx.frozen import frozen, replace
from phalanx.names import Keys, split_checkpoint_name
from phalanx.state import codec

if TYPE_CHECKING:
    from phalanx.store.store import Store

_CHUNK = 8 << 20


class Changed(CheckpointError):
    """A file was written to while it was copied: look again later."""


@frozen
class Copied:
    """A file that is in the store, and under which key."""

    entry: Entry
    key: str
    shard: ShardFile


class Copier:
    """Puts checkpoints of one folder into the store; remembers what the last one held."""

    def __init__(self, store: Store, keys: Keys, folder: str) -> None:
        self._store = store
        self._keys = keys
        self._folder = folder
        self._before: dict[str, Copied] = {}
        self.tally = Tally()
        """How far the copy is that is being made."""

    def put(
        self, name: str, entries: Sequence[Entry], pointers: Sequence[Entry], index: FolderIndex
    ) -> None:
        """Copy the files of checkpoint `name` and state their part.

        A pointer that changes meanwhile is left out; for another file this raises `Changed`, then
        nothing of the checkpoint is left. Raises `StoreError` when the root refuses.
        """
        step, attempt = split_checkpoint_name(name) or (0, 0)
        self.tally.begin(len(entries) + len(pointers))
        try:
            copied = self._copy_all(name, entries, pointers)
            for entry in entries:
                self._check(entry)
            shards = [*(one.shard for one in copied), self._put_index(name, index, copied)]
        except BaseException:
            self._store.delete(self._keys.checkpoint(name))
            raise
        finally:
            self.tally.end()
        part = Part(0, name, attempt, step, 1, tuple(shards), (Piece(PIECE, FOLDER),))
        self._store.create(self._keys.part(name, 0), codec.dumps(part))
        self._before = {one.entry.name: one for one in copied}

    def _copy_all(
        self, name: str, entries: Sequence[Entry], pointers: Sequence[Entry]
    ) -> list[Copied]:
        """All files, in their order and durable; a pointer that changed is missing."""

        def copy(number: int) -> Copied | None:
            is_pointer = number >= len(entries)
            try:
                entry = pointers[number - len(entries)] if is_pointer else entries[number]
                return self._copy(name, number, entry)
            except Changed:
                if is_pointer:
                    return None
                raise
            finally:
                self.tally.count()

        large = [number for number, entry in enumerate(entries) if entry.size > SMALL_BYTES]
        small = sorted({*range(len(entries) + len(pointers))}.difference(large))
        found = dict(zip(small, together(copy, small), strict=True))
        found.update((number, copy(number)) for number in large)
        for folder in sorted({one.key.rpartition("/")[0] for one in found.values() if one}):
            self._store.settle(folder)
        return [one for _, one in sorted(found.items()) if one is not None]

    def _put_index(self, name: str, index: FolderIndex, copied: Sequence[Copied]) -> ShardFile:
        files = tuple(
            Kept(one.entry.name, one.shard.name, one.shard.bytes, one.entry.mtime_ns, _mode(one))
            for one in copied
        )
        data = codec.dumps(replace(index, files=files))
        written = self._store.put_blob(f"{self._keys.checkpoint(name)}/{INDEX}", [data])
        return ShardFile(INDEX, written.bytes, written.sha256)

    def _copy(self, name: str, number: int, entry: Entry) -> Copied:
        key = self._keys.file(name, number)
        inside = key.removeprefix(f"{self._keys.checkpoint(name)}/")
        before = self._before.get(entry.name)
        if before is not None and before.entry == entry and self._store.copy_loose(before.key, key):
            return Copied(entry, key, replace(before.shard, name=inside))
        fd = self._open(entry)
        try:
            written = self._store.put_loose(key, _chunks(fd, entry))
            if entry_at(fd, entry.name) != entry:
                raise Changed(f"{entry.name} changed while it was copied")
        finally:
            os.close(fd)
        view = self._store.get_blob(key)
        if view is None or form_of(entry.base, of_bytes(view), deep=True) is Form.TORN:
            raise Changed(f"{entry.name} does not hold together")
        return Copied(entry, key, ShardFile(inside, written.bytes, written.sha256))

    def _open(self, entry: Entry) -> int:
        path = os.path.join(self._folder, entry.name)
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise Changed(f"{entry.name} cannot be read: {error.strerror}") from error
        if entry_at(fd, entry.name) != entry:
            os.close(fd)
            raise Changed(f"{entry.name} changed before it was copied")
        return fd

    def _check(self, entry: Entry) -> None:
        if entry_of(self._folder, entry.name) != entry:
            raise Changed(f"{entry.name} changed while the others were copied")


def _mode(one: Copied) -> int:
    return one.entry.mode & 0o700


def _chunks(fd: int, entry: Entry) -> Iterator[bytes]:
    at = 0
    while at < entry.size:
        data = os.pread(fd, min(_CHUNK, entry.size - at), at)
        if not data:
            raise Changed(f"{entry.name} became shorter while it was copied")
        at += len(data)
        yield data
