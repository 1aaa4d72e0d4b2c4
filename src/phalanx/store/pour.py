"""Write and hash a large body in one pass, at the speed of the slower of the two."""

from __future__ import annotations

import os
from collections.abc import Iterable

from phalanx.store.base import Written
from phalanx.store.digest import Hashing, Rolling
from phalanx.store.refusals import refusing


def pour(fd: int, chunks: Iterable[bytes | memoryview], place: refusing) -> Written:
    """Append every chunk to `fd` and return their length and digest (`store.digest`).

    A chunk is never touched after the next one was asked for, so its buffer may be used again;
    of a list all chunks stay as they are, so that a second thread hashes while this one writes.
    What the disk refuses is told of `place`; errors of `chunks` itself pass unchanged.
    """
    if isinstance(chunks, list):
        views = [memoryview(chunk) for chunk in chunks]
        return _pour_together(fd, [view.cast("B") for view in views if view.nbytes], place)
    digest = Rolling()
    total = 0
    for chunk in chunks:
        view = memoryview(chunk)
        if view.nbytes:
            view = view.cast("B")
            _write_out(fd, view, total, place)
            digest.update(view)
            total += view.nbytes
    return Written(total, digest.result())


def _pour_together(fd: int, views: list[memoryview], place: refusing) -> Written:
    hashing = Hashing(views)
    total = 0
    try:
        for view in views:
            _write_out(fd, view, total, place)
            total += view.nbytes
        return Written(total, hashing.result())
    finally:
        hashing.close()


def _write_out(fd: int, view: memoryview, at: int, place: refusing) -> None:
    with place:
        write_all(fd, view)
        # Asks the kernel to begin writing these pages out, so that the final fsync has little
        # left to wait for.
        os.posix_fadvise(fd, at, view.nbytes, os.POSIX_FADV_DONTNEED)


def write_all(fd: int, data: bytes | memoryview) -> None:
    """`os.write` until nothing is left; the kernel takes at most 2 GiB at once."""
    view = memoryview(data)
    while view.nbytes:
        view = view[os.write(fd, view) :]
