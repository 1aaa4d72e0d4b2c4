"""What the file system says, as one line that a person can act on."""

from __future__ import annotations

import errno
import os
from types import TracebackType

from phalanx.errors import StoreUnavailable

_SAYS = {
    errno.ENOSPC: ("the disk is full", "free some space, or choose another root with --root"),
    errno.EDQUOT: ("the disk quota is used up", "free some space, or choose another root"),
    errno.EROFS: ("the file system is read-only", "remount it writable, or choose another root"),
    errno.EACCES: ("permission denied", "run as the owner of the root, or choose another root"),
    errno.EPERM: ("operation not permitted", "run as the owner of the root"),
    errno.ESTALE: ("the network file system lost this file", "remount it and try again"),
    errno.EIO: ("the disk reports an input/output error", "check the disk before going on"),
    errno.ELOOP: (
        "it is a symbolic link, and links below the root are not followed",
        "put the real file or folder there",
    ),
    errno.ENOTDIR: ("a file stands where a folder is needed", "move that file away"),
    errno.EXDEV: (
        "another file system is mounted below the root",
        "a root must lie on one file system: mount that one at the root itself",
    ),
    errno.EFBIG: (
        "it is larger than a file may be here",
        "a limit of file size (`ulimit -f`) or the file system stands in the way: raise the "
        "limit, or choose another root",
    ),
    errno.ENAMETOOLONG: ("the path is too long", "choose a root with a shorter path"),
    errno.EMFILE: ("too many open files", "raise the limit with `ulimit -n`"),
    errno.ENFILE: ("the machine has too many open files", "raise fs.file-max"),
}

_FULL = "free some space, or name another place"
_MOUNTED = "a file system is mounted there: name a new folder inside of it"
_OUTSIDE = {
    errno.ENOSPC: (_SAYS[errno.ENOSPC][0], _FULL),
    errno.EDQUOT: (_SAYS[errno.EDQUOT][0], _FULL),
    errno.EBUSY: ("it is in use", _MOUNTED),
    errno.EXDEV: ("another file system begins there", _MOUNTED),
    errno.EFBIG: (
        "a file would be larger than it may be",
        "a limit of file size (`ulimit -f`) or the file system stands in the way: raise the "
        "limit, or name a place on another file system",
    ),
    errno.ELOOP: ("its symbolic links lead nowhere", "name another place"),
    errno.EMFILE: _SAYS[errno.EMFILE],
    errno.ENFILE: _SAYS[errno.ENFILE],
}
"""The same outside of a root, where the root's own rules and advice do not hold."""


class refusing:
    """`with refusing(path, root):` turns every `OSError` inside into `StoreUnavailable`.

    One object may be entered again and again.
    """

    def __init__(self, path: str, root: str = "") -> None:
        self.path = path
        self.root = root

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if not isinstance(error, OSError):
            return
        if error.errno == errno.ENOENT and self.root and not os.path.isdir(self.root):
            raise root_missing(self.root) from error
        raise refusal(error, self.path) from error


def refusal(error: OSError, path: str) -> StoreUnavailable:
    """The error to raise for `error`, met while working on `path`."""
    says, hint = _SAYS.get(error.errno or 0, (error.strerror or str(error), ""))
    return StoreUnavailable(f"{path}: {says}", hint=hint)


def unwritable(error: OSError, path: str) -> StoreUnavailable:
    """The error to raise for `error`, met while writing to a place outside of a root."""
    code = error.errno or 0
    says, hint = _OUTSIDE.get(code) or (
        _SAYS.get(code, (error.strerror or str(error), ""))[0],
        "name another place",
    )
    return StoreUnavailable(f"{path} cannot be written: {_in_the_way(path) or says}", hint=hint)


def _in_the_way(path: str) -> str:
    """Which file stands where a folder above `path` should be; empty when none does."""
    above = os.path.dirname(os.path.abspath(path))
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    return "" if os.path.isdir(above) else f"{above} is no folder"


def root_missing(root: str) -> StoreUnavailable:
    """The root's folder is not there."""
    return StoreUnavailable(
        f"{root}: the root does not exist",
        hint="it was deleted or is not mounted, or --root and PHALANX_ROOT name the wrong folder",
    )


def file_system_of(path: str) -> str:
    """Type of the file system that holds `path` (`ext4`, `nfs4`, `vfat`), from /proc/mounts."""
    real = os.path.realpath(path)
    best, kind = "", "unknown"
    try:
        with open("/proc/mounts", encoding="utf-8", errors="replace") as mounts:
            lines = mounts.readlines()
    except OSError:
        return kind
    for line in lines:
        _, place, found, *_ = line.split(" ")
        place = place.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        # Later mounts cover earlier ones at the same place.
        if len(place) >= len(best) and os.path.commonpath((real, place)) == place:
            best, kind = place, found
    return kind
