"""Put a folder back to what a commit holds, so that a script goes on from exactly there.

What has to be written is copied out beside the folder and held against its digest first; then what
is newer than the commit, or was never finished, goes; then the files move in, each at once. Ranks
start only after that: a restore that was broken off is begun anew and never seen.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from phalanx.checkpoint.folder.record import FolderIndex, Kept, Known, known_of, read_index
from phalanx.checkpoint.folder.scan import Look, look_at
from phalanx.checkpoint.folder.together import SMALL_BYTES, Tally, together
from phalanx.checkpoint.folder.units import folders_above, number_of, units_in
from phalanx.checkpoint.manifest import ShardFile
from phalanx.checkpoint.reading import load_manifest, read_file
from phalanx.errors import StoreUnavailable
from phalanx.frozen import frozen
from phalanx.names import Keys

if TYPE_CHECKING:
    from phalanx.store.store import Store

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@frozen
class Restored:
    """What was done: files written, and files, folders or links removed."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class Restorer:
    """Restores checkpoints of one job into one folder; `staging` is ours, on its file system."""

    def __init__(
        self, store: Store, keys: Keys, folder: str, staging: str, aside: str | None = None
    ) -> None:
        """What is taken away goes below `aside`, on the same file system."""
        self._store = store
        self._keys = keys
        self._folder = folder
        self._staging = staging
        self._aside = aside or f"{staging}-aside"
        self.tally = Tally()
        """How far the copying out is."""

    def restore(self, name: str | None, shipped: Collection[Known] = ()) -> Restored:
        """Bring the folder to checkpoint `name`; None: to the beginning.

        `shipped` are files that lay there before the job began. Raises `CheckpointUnreadable`
        before anything was touched; `StoreError` when the root refuses, `StoreUnavailable` when
        the folder does.
        """
        try:
            index, blobs = self._open(name)
            return self._restore(name or "", index, blobs, frozenset(shipped))
        except OSError as error:
            raise StoreUnavailable(
                f"{self._folder} cannot be restored: {error.strerror or error}"
            ) from error
        finally:
            shutil.rmtree(self._staging, ignore_errors=True)

    def _open(self, name: str | None) -> tuple[FolderIndex, dict[str, ShardFile]]:
        if name is None:
            return FolderIndex("", ""), {}
        manifest = load_manifest(self._store, self._keys.checkpoint(name), name)
        blobs = {shard.name: shard for shard in manifest.shards}
        return read_index(self._store, self._keys, manifest), blobs

    def _restore(
        self,
        name: str,
        index: FolderIndex,
        blobs: Mapping[str, ShardFile],
        shipped: frozenset[Known],
    ) -> Restored:
        shutil.rmtree(self._staging, ignore_errors=True)
        look = look_at(self._folder)
        there = {known_of(entry) for entry in look.files}
        missing = [kept for kept in index.files if _known(kept) not in there]
        self._stage_all(name, missing, blobs)
        gone = _leftovers(look, index, shipped)
        for one in gone:
            self._set_aside(one)
        folders = _emptied(look, set(gone), index)
        for one in folders:
            shutil.rmtree(os.path.join(self._folder, one), ignore_errors=True)
        for number, kept in enumerate(missing):
            self._place(number, kept)
        self._link(look, dict(index.links))
        return Restored(tuple(kept.name for kept in missing), (*gone, *folders))

    def _stage_all(
        self, name: str, missing: Sequence[Kept], blobs: Mapping[str, ShardFile]
    ) -> None:
        """Copy out what is missing; small files many at once."""

        def stage(number: int) -> None:
            kept = missing[number]
            data = read_file(self._store, self._keys.checkpoint(name), blobs[kept.blob])
            self._stage(number, kept, data)
            self.tally.count()

        self.tally.begin(len(missing))
        try:
            large = [n for n, kept in enumerate(missing) if kept.size > SMALL_BYTES]
            together(stage, sorted({*range(len(missing))}.difference(large)))
            for number in large:
                stage(number)
        finally:
            self.tally.end()

    def _set_aside(self, name: str) -> None:
        """Out of the script's sight, and not lost: it may be whole, or no checkpoint at all."""
        kept = os.path.join(self._aside, name)
        os.makedirs(os.path.dirname(kept), mode=0o700, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.replace(os.path.join(self._folder, name), kept)

    def _stage(self, number: int, kept: Kept, data: memoryview) -> None:
        os.makedirs(self._staging, mode=0o700, exist_ok=True)
        path = os.path.join(self._staging, str(number))
        with open(os.open(path, _WRITE, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), (kept.mode & 0o700) | 0o600)
            os.utime(file.fileno(), ns=(kept.mtime_ns, kept.mtime_ns))
            os.fsync(file.fileno())

    def _place(self, number: int, kept: Kept) -> None:
        path = os.path.join(self._folder, kept.name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        os.replace(os.path.join(self._staging, str(number)), path)

    def _link(self, look: Look, wanted: Mapping[str, str]) -> None:
        """Links as they were; one that leads nowhere any more goes."""
        there = {link.name: link.target for link in look.links}
        for name in there.keys() - wanted.keys():
            if not os.path.exists(os.path.join(self._folder, name)):
                os.unlink(os.path.join(self._folder, name))
        for name, target in wanted.items():
            path = os.path.join(self._folder, name)
            if there.get(name) == target and os.path.islink(path):
                continue
            os.makedirs(self._staging, mode=0o700, exist_ok=True)
            draft = os.path.join(self._staging, "link")
            os.symlink(target, draft)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.replace(draft, path)


def _known(kept: Kept) -> Known:
    return Known(kept.name, kept.size, kept.mtime_ns)


def _leftovers(look: Look, index: FolderIndex, shipped: frozenset[Known]) -> list[str]:
    """Files of checkpoints that are neither the commit's nor, whole and unchanged, older."""
    wanted = {_known(kept) for kept in index.files}
    stays = {*wanted, *index.known, *shipped}
    inside: dict[str, set[Known]] = {}
    for known in stays:
        for folder in folders_above(known.name):
            inside.setdefault(folder, set()).add(known)
    own = frozenset(entry for entry in look.files if known_of(entry) in shipped)
    gone = []
    for unit in units_in(look, own):
        here = {known_of(entry) for entry in unit.entries}
        due = inside.get(unit.name, set())
        if here <= stays and due <= here:
            continue
        gone += [entry.name for entry in unit.entries if known_of(entry) not in wanted]
    return gone


def _emptied(look: Look, gone: set[str], index: FolderIndex) -> list[str]:
    """Step folders in which nothing is left, and those of a later step than the commit's."""
    left = {entry.name for entry in look.files} - gone
    filled = {folder for name in left for folder in folders_above(name)}
    parent, _, newest = index.newest.rpartition("/")
    last = number_of(newest) if index.newest in look.folders else None
    found = []
    for folder in look.folders:
        above, _, base = folder.rpartition("/")
        number = number_of(base)
        if number is None:
            continue
        is_later = last is not None and above == parent and number > last
        if is_later or folder not in filled:
            found.append(folder)
    return found
