"""Does this file system keep the two conditions that every promise rests on?

Create-once and compare-and-swap both need that a hard link to an existing name is refused.
Some file systems have no hard links (FAT, many object-store mounts), some only pretend.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

from phalanx.errors import StoreUnfit
from phalanx.store.pour import write_all
from phalanx.store.refusals import file_system_of

NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""What `link` answers where there are no hard links."""

HINT = "choose a root on ext4, xfs, btrfs, tmpfs or NFS"


def unfit(root: str, because: str) -> StoreUnfit:
    """The refusal, naming the root and the type of its file system."""
    return StoreUnfit(f"{root}: the file system ({file_system_of(root)}) {because}", hint=HINT)


def check(root: str, fd: int, tag: str, link: Callable[..., None] = os.link) -> None:
    """Try the conditions for real in the folder open as `fd`, below `root`.

    `tag` is a file name used by nobody else. Raises `StoreUnfit`, or `OSError` when the folder
    cannot be written at all.
    """
    one, two, goal = (f"{tag}-probe-{part}" for part in ("one", "two", "goal"))
    try:
        for name in (one, two):
            _write(name, fd)
        _link(root, fd, (one, goal), link)
        if os.stat(goal, dir_fd=fd).st_ino != os.stat(one, dir_fd=fd).st_ino:
            raise unfit(root, "copies where a hard link was asked for")
        try:
            link(two, goal, src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)
        except FileExistsError:
            pass
        else:
            raise unfit(root, "lets a second writer replace what was created once")
        if _read(goal, fd) != one.encode():
            raise unfit(root, "gives back other bytes than were written")
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            raise unfit(root, "cannot make a folder durable") from error
    finally:
        for name in (one, two, goal):
            _remove(name, fd)


def _link(root: str, fd: int, names: tuple[str, str], link: Callable[..., None]) -> None:
    try:
        link(*names, src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        raise unfit(root, "has no hard links") from error


def _write(name: str, folder: int) -> None:
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        write_all(fd, name.encode())
    finally:
        os.close(fd)


def _read(name: str, folder: int) -> bytes:
    fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)


def _remove(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return  # the probe's own answer matters, and stale files are cleaned a day later
