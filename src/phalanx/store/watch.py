"""News of folders from the kernel (inotify), or a steady tick where that cannot be had.

A hint, never the truth: cover the folders first, then read, and look again after a while in any
case. On network file systems only this host's changes are told.
"""

from __future__ import annotations

import errno
import os
import select
from collections.abc import Iterable, Sequence
from typing import Any

from phalanx.store.base import Watch
from phalanx.store.folders import Folders

TICK_S = 0.05
"""Pause between two ticks when the kernel tells nothing."""

_CREATE, _MOVED_TO, _CLOSE_WRITE, _DELETE = 0x100, 0x80, 0x8, 0x200
_ONLY_FOLDERS, _NO_LINKS = 0x01000000, 0x02000000
_MASK = _CREATE | _MOVED_TO | _CLOSE_WRITE | _DELETE | _ONLY_FOLDERS | _NO_LINKS
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC


class FolderWatch:
    """A `Watch` on folders below one root; `fileno` stays the same for its whole life."""

    def __init__(self, folders: Folders, *, is_quiet: bool = False) -> None:
        """With `is_quiet` the kernel is not asked: the watch ticks."""
        self._folders = folders
        self._watched: dict[int, str] = {}
        self._ticks: _Ticks | None = None
        self._libc: Any = None if is_quiet else _libc()
        fd = -1 if self._libc is None else self._libc.inotify_init1(_FLAGS)
        if fd < 0:  # no inotify here, or fs.inotify.max_user_instances is reached
            self._ticks = _Ticks()
            fd = os.dup(self._ticks.fd)
        self._fd = fd

    @property
    def is_ticking(self) -> bool:
        """Whether it only ticks, because the kernel tells nothing."""
        return self._ticks is not None

    def fileno(self) -> int:
        """Readable when something below a covered folder may have changed."""
        return self._fd

    def drain(self) -> None:
        """Forget the news so far."""
        try:
            while os.read(self._fd, 65536):
                continue
        except BlockingIOError:
            return

    def cover(self, prefixes: Sequence[str]) -> None:
        """Watch exactly these folders, made when missing; call it before reading them.

        Call it again after a folder may have been deleted and made anew.
        Raises `StoreUnavailable`.
        """
        wanted = {}
        for prefix in prefixes:
            with self._folders.at(prefix):
                self._folders.make(prefix)
                if not self.is_ticking:
                    wanted[self._add(self._folders.path(prefix))] = prefix
        if self.is_ticking:
            return
        for number in self._watched.keys() - wanted.keys():
            self._libc.inotify_rm_watch(self._fd, number)
        self._watched = wanted

    def close(self) -> None:
        """Stop watching; doing it twice is harmless."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        if self._ticks is not None:
            self._ticks.close()

    def _add(self, path: str) -> int:
        import ctypes

        number: int = self._libc.inotify_add_watch(self._fd, os.fsencode(path), _MASK)
        if number >= 0:
            return number
        code = ctypes.get_errno()
        if code not in (errno.ENOSPC, errno.ENOMEM):
            raise OSError(code, os.strerror(code))
        # fs.inotify.max_user_watches is reached: tick from now on, under the same number.
        self._ticks = _Ticks()
        os.dup2(self._ticks.fd, self._fd, inheritable=False)
        return -1


class _Ticks:
    """A pipe that becomes readable again and again."""

    def __init__(self) -> None:
        from threading import Event, Thread

        self.fd, self._end = os.pipe2(_FLAGS)
        self._stop = Event()
        self._thread = Thread(target=self._run, name="ticks", daemon=True)
        self._thread.start()

    def close(self) -> None:
        if not self._stop.is_set():
            self._stop.set()
            self._thread.join()
            os.close(self.fd)
            os.close(self._end)

    def _run(self) -> None:
        while not self._stop.wait(TICK_S):
            try:
                os.write(self._end, b".")
            except BlockingIOError:
                continue  # full: nobody reads, and readable it is already


def wait(watch: Watch | None, fds: Iterable[int], timeout_s: float | None) -> frozenset[int]:
    """Sleep until the watch has news, one of `fds` is readable, or the time is over.

    Returns the descriptors that are ready, the watch's own among them; its news are drained.
    `timeout_s` None waits without limit. A descriptor that hung up or is closed counts as ready.
    """
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    news = -1
    if watch is not None:
        news = watch.fileno()
        poll.register(news, select.POLLIN)
    timeout_ms = None if timeout_s is None else max(0.0, timeout_s * 1000)
    ready = frozenset(fd for fd, _ in poll.poll(timeout_ms))
    if watch is not None and news in ready:
        watch.drain()
    return ready


def _libc() -> Any:
    """The C library, when it knows inotify."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    return libc if hasattr(libc, "inotify_init1") else None
