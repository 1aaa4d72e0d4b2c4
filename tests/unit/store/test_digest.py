"""Digests of blobs: the same however the bytes come, plain SHA-256 up to one piece."""

from __future__ import annotations

import hashlib
import re
import threading

import pytest

from phalanx.store.digest import PATTERN, PIECE_BYTES, Hashing, Rolling, digest_of

SIZES = (0, 1, 3 << 20, PIECE_BYTES, PIECE_BYTES + 1, 2 * PIECE_BYTES, 2 * PIECE_BYTES + 5)


def _bytes(size: int) -> bytes:
    return (b"0123456789abcde" * (size // 15 + 1))[:size]


def _expected(data: bytes) -> str:
    if len(data) <= PIECE_BYTES:
        return hashlib.sha256(data).hexdigest()
    pieces = [data[at : at + PIECE_BYTES] for at in range(0, len(data), PIECE_BYTES)]
    together = b"".join(hashlib.sha256(piece).digest() for piece in pieces)
    return f"{hashlib.sha256(together).hexdigest()}-{len(pieces)}"


@pytest.mark.parametrize("size", SIZES)
def test_it_does_not_depend_on_how_the_bytes_come(size: int) -> None:
    data = _bytes(size)
    expected = _expected(data)
    assert re.fullmatch(PATTERN, expected)
    assert digest_of(memoryview(data)) == expected
    for step in (5 << 20, PIECE_BYTES, PIECE_BYTES + 1):
        views = [memoryview(data)[at : at + step] for at in range(0, size, step)]
        rolling = Rolling()
        for view in views:
            rolling.update(view)
        assert rolling.result() == expected
        assert Hashing(views).result() == expected


def test_one_changed_byte_in_any_piece_changes_it() -> None:
    data = bytearray(_bytes(2 * PIECE_BYTES + 5))
    found = {digest_of(memoryview(data))}
    for at in (0, PIECE_BYTES - 1, PIECE_BYTES, len(data) - 1):
        data[at] ^= 1
        found.add(digest_of(memoryview(data)))
        data[at] ^= 1
    assert len(found) == 5


def test_pieces_cannot_change_places() -> None:
    a, b = b"a" * PIECE_BYTES, b"b" * PIECE_BYTES
    assert digest_of(memoryview(a + b)) != digest_of(memoryview(b + a))


def test_what_was_begun_and_is_not_wanted_leaves_no_thread() -> None:
    before = threading.active_count()
    hashing = Hashing([memoryview(bytes(4 * PIECE_BYTES))])
    hashing.close()
    assert threading.active_count() == before
