"""Write and hash a large body in one pass, at the speed of the slower of the two."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from phalanx.store.base import Written
from phalanx.store.refusals import refusing

if TYPE_CHECKING:
    from threading import Thread

ASIDE_BYTES = 1 << 20
"""Chunks larger than this are hashed in a second thread while they are written."""


def pour(fd: int, chunks: Iterable[bytes | memoryview], place: refusing) -> Written:
    """Append every chunk to `fd` and return their length and SHA-256.

    A chunk is never touched after the next one was asked for, so its buffer may be used again;
    of a list all chunks stay as they are, so that hashing need not keep step with writing.
    What the disk refuses is told of `place`;
    errors of `chunks` itself pass unchanged.
    """
    import hashlib

    digest = hashlib.sha256()
    aside = _Aside(digest)
    is_stable = isinstance(chunks, list)
    total = 0
    try:
        for chunk in chunks:
            view = memoryview(chunk)
            if not view.nbytes:
                continue
            view = view.cast("B")
            total += view.nbytes
            if view.nbytes > ASIDE_BYTES or aside.is_behind:
                aside.begin(view)
                with place:
                    write_all(fd, view)
                    # Asks the kernel to begin writing these pages out, so that the final fsync
                    # has little left to wait for.
                    os.posix_fadvise(fd, total - view.nbytes, view.nbytes, os.POSIX_FADV_DONTNEED)
                if not is_stable:
                    aside.finish()
            else:
                digest.update(view)
                with place:
                    write_all(fd, view)
        aside.finish()
    finally:
        aside.close()
    return Written(total, digest.hexdigest())


def write_all(fd: int, data: bytes | memoryview) -> None:
    """`os.write` until nothing is left; the kernel takes at most 2 GiB at once."""
    view = memoryview(data)
    while view.nbytes:
        view = view[os.write(fd, view) :]


class _Aside:
    """A thread that hashes chunks in order; it starts with the first chunk."""

    def __init__(self, digest: Any) -> None:
        self._digest = digest
        self._thread: Thread | None = None
        self._open = 0

    @property
    def is_behind(self) -> bool:
        """Whether chunks wait to be hashed: later ones must queue up after them."""
        return self._open > 0

    def begin(self, view: memoryview) -> None:
        if self._thread is None:
            from queue import SimpleQueue
            from threading import Thread

            self._todo: SimpleQueue[memoryview | None] = SimpleQueue()
            self._done: SimpleQueue[BaseException | None] = SimpleQueue()
            self._thread = Thread(target=self._run, name="hash", daemon=True)
            self._thread.start()
        self._open += 1
        self._todo.put(view)

    def finish(self) -> None:
        """Wait until everything begun is hashed."""
        while self._open:
            error = self._done.get()
            self._open -= 1
            if error is not None:
                raise error

    def close(self) -> None:
        if self._thread is not None:
            self._todo.put(None)
            self._thread.join()

    def _run(self) -> None:
        while (view := self._todo.get()) is not None:
            error = None
            try:
                self._digest.update(view)
            except BaseException as caught:  # handed over to the caller's thread
                error = caught
            self._done.put(error)
