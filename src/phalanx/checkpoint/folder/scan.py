"""One look at a folder that somebody else writes to: what lies in it, and whether it changed."""

from __future__ import annotations

import os
import stat

from phalanx.frozen import frozen

DEEPEST = 12
"""Folders below one another; what lies deeper is not looked at."""
_PASSED_OVER = frozenset({".git", "__pycache__", ".venv", "venv", "node_modules", ".phalanx"})


@frozen
class Entry:
    """One file or symbolic link. `name` is relative to the folder, with slashes."""

    name: str
    size: int
    mtime_ns: int
    inode: int = 0
    mode: int = 0o600
    target: str = ""
    """Where a link leads; '' for a file."""

    @property
    def folder(self) -> str:
        """Name of the folder that holds it; '' at the top."""
        return self.name.rpartition("/")[0]

    @property
    def base(self) -> str:
        """Its name there."""
        return self.name.rpartition("/")[2]


@frozen
class Look:
    """Everything in a folder at one time, sorted by name; `folders` are those below it."""

    files: tuple[Entry, ...] = ()
    links: tuple[Entry, ...] = ()
    folders: tuple[str, ...] = ()


def look_at(folder: str) -> Look:
    """What lies in `folder`; nothing when there is no such folder.

    What vanishes meanwhile was never there. Raises `OSError` when it may not be read.
    """
    files: list[Entry] = []
    links: list[Entry] = []
    folders: list[str] = []
    waiting = [("", 0)]
    while waiting:
        base, depth = waiting.pop()
        for name in _names(os.path.join(folder, base)):
            inside = f"{base}{name}"
            entry = entry_of(folder, inside)
            if entry is None:
                continue
            if stat.S_ISLNK(entry.mode):
                links.append(entry)
            elif stat.S_ISREG(entry.mode):
                files.append(entry)
            elif stat.S_ISDIR(entry.mode) and depth < DEEPEST and name not in _PASSED_OVER:
                folders.append(inside)
                waiting.append((f"{inside}/", depth + 1))
    return Look(_sorted(files), _sorted(links), tuple(sorted(folders)))


def _names(path: str) -> list[str]:
    try:
        return [name for name in os.listdir(path) if name.isprintable() and "\\" not in name]
    except (FileNotFoundError, NotADirectoryError):
        return []


def entry_of(folder: str, name: str) -> Entry | None:
    """One entry as it is now; None when it is not there."""
    path = os.path.join(folder, name)
    try:
        seen = os.lstat(path)
        target = os.readlink(path) if stat.S_ISLNK(seen.st_mode) else ""
    except (FileNotFoundError, NotADirectoryError):
        return None
    return _entry(name, seen, target)


def entry_at(fd: int, name: str) -> Entry:
    """The entry of an open file."""
    return _entry(name, os.fstat(fd), "")


def _entry(name: str, seen: os.stat_result, target: str) -> Entry:
    return Entry(name, seen.st_size, seen.st_mtime_ns, seen.st_ino, seen.st_mode, target)


def _sorted(entries: list[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda entry: entry.name))
