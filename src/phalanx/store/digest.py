"""The digest of a blob: SHA-256, in pieces once it is large, so that two cores can share the work.

Up to one piece of 16 MiB it is the SHA-256 of the bytes. Of more it is the SHA-256 of the pieces'
SHA-256s one after the other, then `-` and their number: the form of S3's composite checksums.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threading import Thread

PIECE_BYTES = 16 << 20
PATTERN = r"[0-9a-f]{64}(-[1-9][0-9]*)?"
_ASIDE_BYTES = 1 << 20
"""Less is hashed faster than a thread starts."""


def digest_of(view: memoryview) -> str:
    """The digest of bytes that are all there."""
    hashing = Hashing((view,))
    try:
        return hashing.result()
    finally:
        hashing.close()


class Rolling:
    """The digest of bytes that come one after the other and may be gone afterwards."""

    def __init__(self) -> None:
        import hashlib

        self._new = hashlib.sha256
        self._piece = self._new()
        self._filled = 0
        self._done: list[bytes] = []

    def update(self, view: memoryview) -> None:
        """The next bytes."""
        while view.nbytes:
            if self._filled == PIECE_BYTES:
                self._done.append(self._piece.digest())
                self._piece, self._filled = self._new(), 0
            head = view[: PIECE_BYTES - self._filled]
            self._piece.update(head)
            self._filled += head.nbytes
            view = view[head.nbytes :]

    def result(self) -> str:
        """The digest of everything so far."""
        return combined([*self._done, self._piece.digest()])


def combined(digests: list[bytes]) -> str:
    """The digest of a blob from the SHA-256s of its pieces, of which there is at least one."""
    import hashlib

    if len(digests) == 1:
        return digests[0].hex()
    return f"{hashlib.sha256(b''.join(digests)).hexdigest()}-{len(digests)}"


class Hashing:
    """Hashes in a second thread while the caller does something else, then in both.

    The bytes must stay as they are until `result` or `close` has returned.
    """

    def __init__(self, views: Iterable[memoryview]) -> None:
        pieces = _pieces(views)
        self._digests = [b""] * len(pieces)
        self._left = deque(enumerate(pieces))
        self._error: BaseException | None = None
        self._thread: Thread | None = None
        if sum(view.nbytes for piece in pieces for view in piece) > _ASIDE_BYTES:
            from threading import Thread

            self._thread = Thread(target=self._run, name="hash", daemon=True)
            self._thread.start()

    def result(self) -> str:
        """The digest, once both threads have nothing left to hash."""
        self._hash()
        self.close()
        if self._error is not None:
            raise self._error
        return combined(self._digests)

    def close(self) -> None:
        """Hash no further piece, and leave no thread behind."""
        self._left.clear()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            self._hash()
        except BaseException as caught:  # handed over to the caller's thread
            self._error = caught

    def _hash(self) -> None:
        import hashlib

        while True:
            try:
                number, views = self._left.popleft()
            except IndexError:
                return
            piece = hashlib.sha256()
            for view in views:
                piece.update(view)
            self._digests[number] = piece.digest()


def _pieces(views: Iterable[memoryview]) -> list[list[memoryview]]:
    """The bytes in pieces of 16 MiB, none of them copied; an empty blob is one empty piece."""
    pieces: list[list[memoryview]] = [[]]
    filled = 0
    for whole in views:
        view = whole
        while view.nbytes:
            if filled == PIECE_BYTES:
                pieces.append([])
                filled = 0
            head = view[: PIECE_BYTES - filled]
            pieces[-1].append(head)
            filled += head.nbytes
            view = view[head.nbytes :]
    return pieces
