"""A root that is a folder.

A create-once object is the file `<key>`: a hard link of a finished, fsynced draft; the name can
be taken once. A mutable object is the folder `<key>` of versions `00000001`, `00000002`, ...:
value n is replaced by linking n + 1, the highest is the value, old ones are kept. There is no
lock, so nobody can be stopped while holding one.

A version is told as number, time and inode, so that a folder that was removed and filled again
(A-B-A) is never taken for the old one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import TYPE_CHECKING

from phalanx.errors import StoreConflict, StoreUnavailable
from phalanx.store import fitness
from phalanx.store.base import Found, Watch, Written
from phalanx.store.drafts import Draft, Drafts, remove_tree
from phalanx.store.folders import Folder, Folders, Sync, is_name, is_version
from phalanx.store.pour import pour, write_all
from phalanx.store.refusals import refusing

if TYPE_CHECKING:
    from os import PathLike

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_LAST = 99_999_999
LARGEST_OBJECT = 256 << 20
"""Bytes of an object that is read whole; blobs, which are mapped, may be larger."""


class FilesObjects:
    """Objects, beats and blobs below one folder; safe for many processes and threads.

    Every method may raise `StoreUnavailable` (one line: path, what, what to do) and `InputError`
    for a bad key; every writing one `StoreUnfit`.
    """

    def __init__(
        self, root: str | PathLike[str], *, sync: Sync = os.fsync, anchor: str = ""
    ) -> None:
        """`sync` makes one open file or folder durable; nothing is announced before it returns.

        `anchor` is a mutable object: once it is not there any more, no folder is made for others.
        """
        self.root = os.path.abspath(os.fspath(root))
        self._folders = Folders(self.root, sync, anchor)
        self._drafts = Drafts(self._folders)

    @classmethod
    def open(
        cls, path: str | PathLike[str], *, make: bool = False, anchor: str = ""
    ) -> FilesObjects:
        """The root at `path`; with `make` it is made, probed and cleaned of old drafts.

        What works for one job gives the key of its record as `anchor`, so that a job or root that
        somebody removes does not come back as empty folders.
        Raises `StoreUnavailable` when it is missing, `StoreUnfit` when its file system is.
        """
        objects = cls(path, anchor=anchor)
        if make:
            with refusing(objects.root):
                _make_root(objects.root)
                objects._drafts.folder()
        objects._folders.find(anchor)
        return objects

    def probe(self) -> None:
        """Try create-once and replacement for real. Raises `StoreUnfit`."""
        with refusing(self.root):
            self._drafts.probe()

    def get(self, key: str) -> Found | None:
        """Newest value; in steady state one look at the folder and one failed open."""
        with self._folders.at(key):
            folder = self._folders.kept(key)
            if folder is not None:
                return self._newest(folder)
            parent, name = self._parent(key)
            fd = _open(name, parent)
            if fd is None or parent is None:
                return None
            if stat.S_ISDIR(os.fstat(fd).st_mode):
                return self._newest(self._folders.adopt(key, fd, parent))
            return _read(fd, 0)

    def put_new(self, key: str, data: bytes) -> None:
        """Create the file `<key>`; durable on return. Raises `StoreConflict`."""
        with self._folders.at(key), self._drafts.new() as draft:
            write_all(draft.fd, data)
            self._publish_new(draft, key)

    def replace(self, key: str, data: bytes, version: str | None) -> str:
        """Link version n + 1 of the folder `<key>`; durable on return. Raises `StoreConflict`."""
        with self._folders.at(key):
            folder = self._folders.make(key) if version is None else self._folders.find(key)
            number = _number(version)
            if folder is None or not _is_version_here(folder, number, version):
                raise StoreConflict(f"{key}: version {version} is not there")
            name = _version_name(number + 1)
            if _stat(name, folder) is not None:
                raise StoreConflict(f"{key}: version {version} was replaced by somebody else")
            with self._drafts.new() as draft:
                write_all(draft.fd, data)
                self._publish(draft, folder, name)
                new = _token(number + 1, os.fstat(draft.fd))
            folder.newest = (number + 1, Found(data, new))
            # A higher one can only be built on ours; looking keeps what is remembered true.
            self._newest(folder)
            return new

    def successor(self, key: str, version: str | None) -> Found | None:
        """The value that replaced `version` (None: the first value); None when there is none."""
        with self._folders.at(key):
            folder = self._folders.find(key)
            number = _number(version)
            if folder is None or not _is_version_here(folder, number, version):
                return None
            fd = _open(_version_name(number + 1), folder)
            return None if fd is None else _read(fd, number + 1)

    def list(self, prefix: str) -> tuple[str, ...]:
        """Names directly below a folder; foreign files, drafts and versions are left out.

        A folder whose first object is not written yet already appears.
        """
        with self._folders.at(prefix):
            folder = self._folders.find(prefix)
            return () if folder is None else tuple(sorted(filter(is_name, folder.names())))

    def beat(self, key: str, data: bytes) -> None:
        """Overwrite by renaming a draft onto the key; not fsynced."""
        with self._folders.at(key):
            above, _, name = key.rpartition("/")
            with self._drafts.new() as draft:
                write_all(draft.fd, data)
                folder = self._folders.make(above)
                os.replace(draft.name, name, src_dir_fd=draft.folder.fd, dst_dir_fd=folder.fd)

    def pulse(self, key: str) -> tuple[bytes, int] | None:
        """Newest bytes and their age in nanoseconds by the file system's clock."""
        with self._folders.at(key):
            parent, name = self._parent(key)
            fd = _open(name, parent)
            if fd is None:
                return None
            written_ns = os.fstat(fd).st_mtime_ns
            data = _read(fd, 0).data
            return data, max(0, self._drafts.now_ns() - written_ns)

    def now_ns(self) -> int:
        """The file system's own clock."""
        with refusing(self.root):
            return self._drafts.now_ns()

    def put_blob(self, key: str, chunks: Iterable[bytes | memoryview]) -> Written:
        """Write, hash and publish in one pass. Raises `StoreConflict`."""
        return self._put_blob(key, chunks, is_loose=False)

    def put_loose(self, key: str, chunks: Iterable[bytes | memoryview]) -> Written:
        """As `put_blob`; its name is durable after `settle`. Raises `StoreConflict`."""
        return self._put_blob(key, chunks, is_loose=True)

    def _put_blob(
        self, key: str, chunks: Iterable[bytes | memoryview], *, is_loose: bool
    ) -> Written:
        place = self._folders.at(key)
        with place:
            draft = self._drafts.new()
        with draft:
            written = pour(draft.fd, chunks, place)
            with place:
                self._publish_new(draft, key, is_loose=is_loose)
            return written

    def get_blob(self, key: str) -> memoryview | None:
        """The file mapped read-only; the pages stay valid when it is deleted meanwhile."""
        import mmap

        with self._folders.at(key):
            parent, name = self._parent(key)
            fd = _open(name, parent)
            if fd is None:
                return None
            try:
                if not os.fstat(fd).st_size:
                    return memoryview(b"")
                return memoryview(mmap.mmap(fd, 0, access=mmap.ACCESS_READ))
            finally:
                os.close(fd)

    def link_blob(self, source: str, key: str) -> bool:
        """One more name for the file; False when it is missing. Raises `StoreConflict`."""
        return self._link_blob(source, key, is_loose=False)

    def link_loose(self, source: str, key: str) -> bool:
        """As `link_blob`; the name is durable after `settle`. Raises `StoreConflict`."""
        return self._link_blob(source, key, is_loose=True)

    def settle(self, prefix: str) -> None:
        """Make the names in a folder durable; a folder that is gone has none."""
        with self._folders.at(prefix):
            folder = self._folders.find(prefix)
            if folder is not None:
                folder.settle()

    def _link_blob(self, source: str, key: str, *, is_loose: bool) -> bool:
        with self._folders.at(source):
            held, name = self._parent(source)
            if held is None or _stat(name, held) is None:
                return False
        with self._folders.at(key):
            above, _, new = key.rpartition("/")
            folder = self._folders.make(above)
            try:
                os.link(name, new, src_dir_fd=held.fd, dst_dir_fd=folder.fd, follow_symlinks=False)
            except FileExistsError:
                raise StoreConflict(f"{folder.path}/{new}: exists already") from None
            except FileNotFoundError:
                return False  # removed meanwhile
            if not is_loose:
                folder.settle()
            return True

    def delete(self, key: str) -> None:
        """Remove at once for every reader: a folder is moved away whole, then emptied."""
        with self._folders.at(key):
            parent, name = self._parent(key)
            if parent is None or _stat(name, parent) is None:
                return
            tmp = self._drafts.folder()
            gone = self._drafts.name()
            try:
                os.rename(name, gone, src_dir_fd=parent.fd, dst_dir_fd=tmp.fd)
            except FileNotFoundError:
                return
            # Or a crash could bring back a folder with half its files.
            self._folders.sync(parent.fd)
            if _is_folder(gone, tmp):
                remove_tree(gone, tmp)
            else:
                os.unlink(gone, dir_fd=tmp.fd)

    def watch(self) -> Watch:
        """News of folders below this root; covers none yet."""
        from phalanx.store.watch import FolderWatch

        return FolderWatch(self._folders)

    def _parent(self, key: str) -> tuple[Folder | None, str]:
        above, _, name = key.rpartition("/")
        return self._folders.find(above), name

    def _publish_new(self, draft: Draft, key: str, *, is_loose: bool = False) -> None:
        above, _, name = key.rpartition("/")
        self._publish(draft, self._folders.make(above), name, is_loose=is_loose)

    def _publish(self, draft: Draft, folder: Folder, name: str, *, is_loose: bool = False) -> None:
        """Durable file, then the name, then the durable folder: only then is it announced.

        What is loose waits for `settle` before it is.
        """
        self._folders.sync(draft.fd)
        try:
            os.link(
                draft.name,
                name,
                src_dir_fd=draft.folder.fd,
                dst_dir_fd=folder.fd,
                follow_symlinks=False,
            )
        except FileExistsError:
            # A network file system may repeat a request whose answer it lost: two names for
            # the draft mean that the first one was granted.
            if os.fstat(draft.fd).st_nlink < 2:
                raise StoreConflict(f"{folder.path}/{name}: exists already") from None
        except FileNotFoundError:
            self._folders.find("")
            raise StoreConflict(f"{folder.path}: removed while it was written to") from None
        except OSError as error:
            if error.errno not in fitness.NO_LINKS:
                raise
            raise fitness.unfit(self.root, "has no hard links") from error
        if not is_loose:
            folder.settle()
        if not folder.is_here():
            self._folders.find("")
            raise StoreConflict(f"{folder.path}: removed while it was written to")

    def _newest(self, folder: Folder) -> Found | None:
        """Walk up from the last version known; versions never change, so it stays true."""
        number, found = folder.newest or _highest(folder)
        while number < _LAST and (fd := _open(_version_name(number + 1), folder)) is not None:
            number += 1
            found = _read(fd, number)
        if found is None:
            return None
        folder.newest = (number, found)
        return found


def _highest(folder: Folder) -> tuple[int, Found | None]:
    """One below the highest version listed, to be read by the walk."""
    return max(map(int, filter(is_version, folder.names())), default=1) - 1, None


def _open(name: str, folder: Folder | None) -> int | None:
    """Open a file or folder for reading, never through a link; None when it is not there."""
    try:
        return None if folder is None else os.open(name, _READ, dir_fd=folder.fd)
    except FileNotFoundError:
        return None


def _read(fd: int, number: int) -> Found:
    """Everything in `fd`, which is closed; `number` is the version's, 0 for create-once."""
    try:
        seen = os.fstat(fd)
        if not stat.S_ISREG(seen.st_mode):
            raise OSError(None, "it is neither a file nor a folder")
        if seen.st_size > LARGEST_OBJECT:
            # Not EFBIG: that is what the system says of a write past a limit of file size.
            raise OSError(
                None, "no object of phalanx is so large: somebody else wrote it, move it away"
            )
        data = os.read(fd, seen.st_size + 1)
        while more := os.read(fd, 1 << 20):
            data += more
        return Found(data, _token(number, seen))
    finally:
        os.close(fd)


def _stat(name: str, folder: Folder) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _is_folder(name: str, folder: Folder) -> bool:
    seen = _stat(name, folder)
    return seen is not None and stat.S_ISDIR(seen.st_mode)


def _version_name(number: int) -> str:
    return f"{number:08d}"


def _token(number: int, seen: os.stat_result) -> str:
    return f"{number:08d}-{seen.st_mtime_ns:x}-{seen.st_ino:x}"


def _number(version: str | None) -> int:
    if version is None:
        return 0
    number = version.partition("-")[0]
    return int(number) if is_version(number) else 0


def _is_version_here(folder: Folder, number: int, version: str | None) -> bool:
    if version is None:
        return True
    seen = _stat(_version_name(number), folder) if number else None
    return seen is not None and _token(number, seen) == version


def _make_root(root: str) -> None:
    """Make the root and what is missing above it, durably."""
    if os.path.isdir(root):
        return
    above = os.path.dirname(root)
    _make_root(above)
    try:
        os.mkdir(root, 0o700)
    except FileExistsError:
        if not os.path.isdir(root):
            raise StoreUnavailable(
                f"{root}: a file stands where the root should be", hint="name a folder"
            ) from None
    fd = os.open(above, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
