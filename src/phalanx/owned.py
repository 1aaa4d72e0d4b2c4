"""Folders and files for their owner alone, whatever the umask is and whoever shares the machine."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def make_folder(path: str) -> None:
    """Make a folder and what is missing above it, all of it private. Raises `OSError`.

    A folder that is there stays as it is.
    """
    try:
        os.mkdir(path, FOLDER_MODE)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
    except FileNotFoundError:
        above = os.path.dirname(path)
        if above == path:
            raise
        make_folder(above)
        make_folder(path)


def make_inside(base: str, path: str) -> None:
    """Make a private folder below `base`, and what is missing between the two. Raises `OSError`.

    `base` itself is never made: whoever removes a job means it.
    """
    at = base
    for name in os.path.relpath(path, base).split(os.sep):
        at = os.path.join(at, name)
        try:
            os.mkdir(at, FOLDER_MODE)
        except FileExistsError:
            if not os.path.isdir(at):
                raise


def make_own_folder(path: str) -> None:
    """Make a private folder where others can write too, as in `/tmp`. Raises `OSError`.

    Somebody else may have been faster: a link and a folder of another user are refused; our own is
    closed to others.
    """
    make_folder(path)
    problem = problem_of(path)
    if problem:
        raise OSError(errno.EPERM, problem, path)
    os.chmod(path, FOLDER_MODE)


def problem_of(path: str) -> str:
    """Why a folder is not our own; '' when it is, or is not there."""
    try:
        seen = os.lstat(path)
    except FileNotFoundError:
        return ""
    if not stat.S_ISDIR(seen.st_mode):
        return "it is no folder, or a link"
    return "" if seen.st_uid == os.getuid() else f"it belongs to user {seen.st_uid}"


def open_plain(path: str) -> BinaryIO:
    """Open a file to read it, never a link, a pipe or a device. Raises `OSError`."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is no plain file", path)
    return open(fd, "rb")


def append_to(path: str) -> int:
    """Open a file to append to it, made private when it is new, never through a link.

    Raises `OSError`.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, FILE_MODE)


def write_private(path: str, data: bytes) -> None:
    """Write a new private file; one that stands there is replaced, never written through a link.

    Raises `OSError`.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, FILE_MODE), "wb") as file:
        file.write(data)
