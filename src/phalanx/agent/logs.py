"""Keep what ranks print: raw bytes in bounded segments, with the time of every chunk beside them.

Layout: `<folder>/<rank>.<out|err>.<segment>` and the same name plus `.idx` with lines
"<byte offset> <unix ns>". A rank that prints without end keeps its first and its last four
segments of 8 MiB; readers are told of the gap by the missing numbers.
"""

from __future__ import annotations

import contextlib
import os
import time

SEGMENT_BYTES = 8 << 20
KEPT_EACH_END = 4
CHUNK = 1 << 16
TAIL_BYTES = 4096


class LogStream:
    """One pipe from one rank, read when it is readable."""

    def __init__(self, folder: str, rank: int, stream: str, fd: int) -> None:
        self.fd = fd
        self.tail = b""
        self._folder = folder
        self._base = os.path.join(folder, f"{rank}.{stream}")
        self._segment = -1
        self._size = SEGMENT_BYTES
        self._out: int | None = None
        self._index: int | None = None
        self._is_lost = False
        os.set_blocking(fd, False)

    def pump(self, budget: int = 16) -> bool:
        """Move what is there, at most `budget` chunks; False once the pipe has ended."""
        for _ in range(budget):
            try:
                data = os.read(self.fd, CHUNK)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not data:
                return False
            self.tail = (self.tail + data)[-TAIL_BYTES:]
            self._keep(data)
        return True

    def end(self) -> None:
        """The pipe has ended: stop reading it."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def close(self) -> None:
        """Drain and close."""
        if self.fd >= 0:
            self.pump(1024)
        self.end()
        for fd in (self._out, self._index):
            if fd is not None:
                with contextlib.suppress(OSError):
                    os.close(fd)
        self._out = self._index = None

    def _keep(self, data: bytes) -> None:
        if self._is_lost:
            return
        try:
            if self._size >= SEGMENT_BYTES:
                self._next_segment()
            if self._out is not None and self._index is not None:
                os.write(self._index, b"%d %d\n" % (self._size, time.time_ns()))
                os.write(self._out, data)
                self._size += len(data)
        except OSError:
            # A full disk or a deleted root must not stop the rank: its pipe is still drained.
            self._is_lost = True

    def _next_segment(self) -> None:
        for fd in (self._out, self._index):
            if fd is not None:
                os.close(fd)
        self._segment += 1
        self._size = 0
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        name = f"{self._base}.{self._segment}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._out = os.open(name, flags, 0o600)
        self._index = os.open(f"{name}.idx", flags, 0o600)
        old = self._segment - KEPT_EACH_END
        if old >= KEPT_EACH_END:
            for path in (f"{self._base}.{old}", f"{self._base}.{old}.idx"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
