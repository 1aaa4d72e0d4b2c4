"""Keep what ranks print: bounded segments, with the time of every chunk beside them.

Bytes are kept as they come, but for secrets: a line is kept once it has ended, and what is secret
in it is hidden (`phalanx.redaction`).

Layout: `<folder>/<rank>.<out|err>.<segment>` and the same name plus `.idx` with lines
"<byte offset> <unix ns>". A rank that prints without end keeps its first and its last four
segments of 8 MiB; readers are told of the gap by the missing numbers.
"""

from __future__ import annotations

import contextlib
import os
import time

from phalanx.owned import append_to, make_inside
from phalanx.redaction.redactor import Redactor
from phalanx.redaction.stream import RedactedStream

SEGMENT_BYTES = 8 << 20
KEPT_EACH_END = 4
CHUNK = 1 << 16
TAIL_BYTES = 4096


class LogStream:
    """One pipe from one rank, read when it is readable."""

    def __init__(self, folder: str, name: str, fd: int, redactor: Redactor) -> None:
        """`name` is `<rank>.<out|err>`."""
        self.fd = fd
        self.tail = b""
        """The last of what was kept."""
        self.heard_ns = 0
        """Monotonic time at which anything last came."""
        self._clean = RedactedStream(redactor)
        self._since_ns = 0
        """When the first of what is held back came; 0 when nothing is."""
        self._folder = folder
        self._base = os.path.join(folder, name)
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
            self.heard_ns = time.monotonic_ns()
            self._take(data)
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
        self._keep(self._clean.end(), self._since_ns or time.time_ns())
        for fd in (self._out, self._index):
            if fd is not None:
                with contextlib.suppress(OSError):
                    os.close(fd)
        self._out = self._index = None

    def _take(self, data: bytes) -> None:
        """A line's time is that of its first byte, although it is kept when it has ended."""
        now_ns = time.time_ns()
        clean = self._clean.feed(data)
        if clean and self._since_ns:
            first = _first_line(clean)
            self._keep(clean[:first], self._since_ns)
            clean, self._since_ns = clean[first:], 0
        self._keep(clean, now_ns)
        if self._clean.is_holding:
            self._since_ns = self._since_ns or now_ns

    def _keep(self, data: bytes, at_ns: int) -> None:
        self.tail = (self.tail + data)[-TAIL_BYTES:]
        if self._is_lost or not data:
            return
        try:
            if self._size >= SEGMENT_BYTES:
                self._next_segment()
            if self._out is not None and self._index is not None:
                os.write(self._index, b"%d %d\n" % (self._size, at_ns))
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
        job = os.path.dirname(os.path.dirname(self._folder))
        make_inside(job, self._folder)
        name = f"{self._base}.{self._segment}"
        self._out = append_to(name)
        self._index = append_to(f"{name}.idx")
        old = self._segment - KEPT_EACH_END
        if old >= KEPT_EACH_END:
            for path in (f"{self._base}.{old}", f"{self._base}.{old}.idx"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)


class PassedOn:
    """What a process of ours prints that is no rank, passed on to another descriptor."""

    def __init__(self, fd: int, out: int, redactor: Redactor) -> None:
        self.fd = fd
        self._out = out
        self._clean = RedactedStream(redactor)
        os.set_blocking(fd, False)

    def pump(self) -> None:
        """Move what is there."""
        while self.fd >= 0:
            try:
                data = os.read(self.fd, CHUNK)
            except OSError:
                return
            if not data:
                self.close()
                return
            self._pass(self._clean.feed(data))

    def close(self) -> None:
        """Read no more."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
            self._pass(self._clean.end())

    def _pass(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            os.write(self._out, data)


def _first_line(data: bytes) -> int:
    """Where the first line ends."""
    ends = [at + 1 for end in (b"\n", b"\r") if (at := data.find(end)) >= 0]
    return min(ends, default=len(data))
