"""Unfinished files: written whole and durable in `<root>/tmp` before anybody can see them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from itertools import count
from types import TracebackType

from phalanx.store import fitness
from phalanx.store.folders import TMP, Descriptor, Folder, Folders

STALE_NS = 24 * 3600 * 1_000_000_000
"""A draft this old has no living writer."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_FIT = "fit-"


class Draft:
    """`with drafts.new() as draft:` one open file; its name in `tmp` goes away at the end."""

    def __init__(self, folder: Folder, name: str) -> None:
        self.folder = folder
        self.name = name
        self.fd = os.open(name, _NEW, 0o600, dir_fd=folder.fd)

    def __enter__(self) -> Draft:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        os.close(self.fd)
        try:
            os.unlink(self.name, dir_fd=self.folder.fd)
        except OSError:
            return  # renamed into its place, or cleaned a day later: the outcome stands


class Drafts:
    """The folder `tmp` of one root, as used by this process."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._tag = f"{os.uname().nodename.split('.')[0]}-{os.urandom(4).hex()}"
        self._numbers = count(1)
        self._clock: Descriptor | None = None
        self._is_open = False

    def new(self) -> Draft:
        """A draft under a name that no other process, thread or fork uses."""
        return Draft(self.folder(), self.name())

    def name(self) -> str:
        """An unused name in `tmp`."""
        return f"{self._tag}-{os.getpid()}-{next(self._numbers)}"

    def folder(self) -> Folder:
        """`tmp`, made when missing; at the first use probed and cleaned."""
        folder = self._folders.make(TMP)
        if not self._is_open:
            self._open(folder)
            self._is_open = True
        return folder

    def probe(self, link: Callable[..., None] = os.link) -> None:
        """Check the file system now. Raises `StoreUnfit`."""
        folder = self._folders.make(TMP)
        fitness.check(self._folders.root, folder.fd, self.name(), link)

    def now_ns(self) -> int:
        """The file system's own clock: the time it gives to a file touched now."""
        clock = self._clock
        if clock is None:
            with self.new() as draft:
                clock = self._clock = Descriptor(os.dup(draft.fd))
        os.utime(clock.fd)
        return os.fstat(clock.fd).st_mtime_ns

    def _open(self, folder: Folder) -> None:
        # The marker carries the device's number: a root copied elsewhere is probed again.
        marker = f"{_FIT}{os.fstat(folder.fd).st_dev:x}"
        names = folder.names()
        if marker not in names:
            self.probe()
            os.close(os.open(marker, os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=folder.fd))
        stale = [name for name in names if not name.startswith(_FIT)]
        self._is_open = True
        if stale:
            self._clean(folder, stale)

    def _clean(self, folder: Folder, names: list[str]) -> None:
        before = self.now_ns() - STALE_NS
        for name in names:
            try:
                seen = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
                if seen.st_mtime_ns > before:
                    continue
                if stat.S_ISDIR(seen.st_mode):
                    remove_tree(name, folder)
                else:
                    os.unlink(name, dir_fd=folder.fd)
            except OSError:
                continue  # somebody else cleans as well, or it is not ours to remove


def remove_tree(name: str, folder: Folder) -> None:
    """Remove a folder and all below it, without following links; missing is success."""
    import shutil

    path = f"{folder.path}/{name}"
    # Another process may clean the same remains: what it took first is no error.
    shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        shutil.rmtree(path)
