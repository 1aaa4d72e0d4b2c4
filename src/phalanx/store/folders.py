"""Folders below a root, opened once, never through a symbolic link.

Every file is reached through an open descriptor of its folder, so nobody can bend the path
underneath. A kept descriptor is used again only while the path still leads to the same folder:
a root that was deleted, moved or mounted over is noticed at the next operation.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable

from phalanx.errors import InputError, StoreUnavailable
from phalanx.store.base import Found
from phalanx.store.refusals import refusing, root_missing

TMP = "tmp"
"""Folder of unfinished files; no key may begin with it."""

_SEGMENT = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}"
_VERSION = r"[0-9]{8}"
_LONGEST, _DEEPEST = 900, 64
_KEPT = 64
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def check_key(key: str) -> str:
    """The key itself. Raises `InputError` unless it is a plain relative path of few characters."""
    segments = key.split("/")
    too_long = len(key) > _LONGEST or len(segments) > _DEEPEST
    if too_long or segments[0] == TMP or not all(is_name(segment) for segment in segments):
        raise InputError(
            f"{key!r} is no key under a root",
            hint="parts of letters, digits, '_', '.', '-', joined by '/', none begins with '.' or "
            "'-', none is a number of eight digits",
        )
    return key


def is_name(name: str) -> bool:
    """Whether a file of that name can be (part of) a key; versions and foreign files cannot."""
    return re.fullmatch(_SEGMENT, name) is not None and not is_version(name)


def is_version(name: str) -> bool:
    """Whether a file of that name is a version of a mutable object."""
    return re.fullmatch(_VERSION, name) is not None


Sync = Callable[[int], None]


class Descriptor:
    """A file descriptor that is closed when nobody refers to it any more.

    Threads may drop and use it at once; an explicit close could hit a number used again.
    """

    _close = staticmethod(os.close)  # `os` may be gone when the interpreter ends

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __del__(self) -> None:
        self._close(self.fd)


class Folder(Descriptor):
    """One open folder; `newest` is the highest version known, when it is a mutable object."""

    def __init__(self, fd: int, path: str, parent: Folder | None, sync: Sync) -> None:
        super().__init__(fd)
        self._sync = sync
        seen = os.fstat(fd)
        self.path = path
        self.parent = parent
        self._name = os.path.basename(path)
        self.identity = (seen.st_dev, seen.st_ino)
        self.is_durable = parent is None
        self.newest: tuple[int, Found] | None = None

    def is_here(self) -> bool:
        """Whether the path still leads to this folder, and not through a symbolic link."""
        folder: Folder | None = self
        while folder is not None:
            try:
                seen = folder._look()
            except OSError:
                return False
            if (seen.st_dev, seen.st_ino) != folder.identity:
                return False
            folder = folder.parent
        return True

    def _look(self) -> os.stat_result:
        if self.parent is None:
            return os.stat(self.path)
        return os.stat(self._name, dir_fd=self.parent.fd, follow_symlinks=False)

    def settle(self) -> None:
        """Make the entries of this folder durable, and its own entry in every folder above."""
        self._sync(self.fd)
        folder = self
        while not folder.is_durable and folder.parent is not None:
            # Asked of every process once per folder: the one that made it may have been killed
            # before it came to this.
            self._sync(folder.parent.fd)
            folder.is_durable = True
            folder = folder.parent

    def names(self) -> list[str]:
        """All names in it. A fresh descriptor, as threads and forks share a place in a kept one."""
        fd = os.open(".", _FLAGS, dir_fd=self.fd)
        try:
            return os.listdir(fd)
        finally:
            os.close(fd)


class Folders:
    """The folders below one root."""

    def __init__(self, root: str, sync: Sync = os.fsync, anchor: str = "") -> None:
        """`sync` makes an open file or folder durable. Without the folder `anchor` none is made."""
        self.root = root
        self.sync = sync
        self.anchor = anchor
        self._held: Folder | None = None
        """The anchor as first seen: open, so that no other can have its number."""
        self._kept: dict[str, Folder] = {}

    def path(self, key: str) -> str:
        """Where a key lives, for messages."""
        return f"{self.root}/{key}" if key else self.root

    def at(self, key: str) -> refusing:
        """Context of one operation on a key. Raises `InputError` for a bad key."""
        return refusing(self.path(check_key(key)), self.root)

    def kept(self, prefix: str) -> Folder | None:
        """The folder, when it is known and still in its place."""
        folder = self._kept.get(prefix)
        if folder is None or folder.is_here():
            return folder
        self._kept.pop(prefix, None)
        return None

    def find(self, prefix: str) -> Folder | None:
        """The folder, or None. Raises `StoreUnavailable` when the root itself is missing."""
        folder = self.kept(prefix)
        if folder is not None:
            return folder
        if not prefix:
            return self._open_root()
        above, _, name = prefix.rpartition("/")
        parent = self.find(above)
        return None if parent is None else self._enter(parent, prefix, name)

    def make(self, prefix: str) -> Folder:
        """The folder, made when missing (not yet durable: see `Folder.settle`)."""
        for _ in range(8):  # somebody may remove a folder above while it is being filled
            folder = self.find(prefix)
            if folder is not None:
                return folder
            self._need_anchor()
            above, _, name = prefix.rpartition("/")
            parent = self.make(above)  # held: another thread may drop it from what is kept
            try:
                os.mkdir(name, 0o700, dir_fd=parent.fd)
            except (FileNotFoundError, FileExistsError):
                continue
        raise StoreUnavailable(
            f"{self.path(prefix)}: cannot be made a folder",
            hint="move away the file that stands there, or stop what keeps removing the folder",
        )

    def _need_anchor(self) -> None:
        """Raises `StoreUnavailable` when the anchor is gone, or another stands in its place."""
        if not self.anchor:
            return
        found, held = self.find(self.anchor), self._held
        # A file system that was mounted again has another device number, but the same inodes.
        if found is None or (held is not None and held.identity[1] != found.identity[1]):
            raise StoreUnavailable(
                f"{self.path(self.anchor)}: it was removed",
                hint="what belonged to it ends by itself",
            )

    def adopt(self, prefix: str, fd: int, parent: Folder) -> Folder:
        """Keep a folder that was opened by name in `parent`."""
        folder = Folder(fd, self.path(prefix), parent, self.sync)
        for old in list(self._kept)[: max(0, len(self._kept) + 1 - _KEPT)]:
            self._kept.pop(old, None)
        self._kept[prefix] = folder
        if prefix == self.anchor and self._held is None:
            self._held = folder
        return folder

    def _open_root(self) -> Folder:
        try:
            with refusing(self.root):
                fd = os.open(self.root, _FLAGS)
        except StoreUnavailable as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise root_missing(self.root) from None
            raise
        self._kept[""] = folder = Folder(fd, self.root, None, self.sync)
        return folder

    def _enter(self, parent: Folder, prefix: str, name: str) -> Folder | None:
        try:
            fd = os.open(name, _FLAGS | os.O_NOFOLLOW, dir_fd=parent.fd)
        except FileNotFoundError:
            return None
        except NotADirectoryError as error:
            seen = os.stat(name, dir_fd=parent.fd, follow_symlinks=False)
            if stat.S_ISLNK(seen.st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error
            return None
        return self.adopt(prefix, fd, parent)
