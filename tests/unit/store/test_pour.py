"""Writing and hashing at once."""

from __future__ import annotations

import hashlib
import os
import threading
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from phalanx.errors import StoreUnavailable
from phalanx.store.digest import PIECE_BYTES
from phalanx.store.pour import pour
from phalanx.store.refusals import refusing


def test_a_buffer_may_be_used_again(tmp_path: Path) -> None:
    buffer = bytearray(3 << 20)
    expected = bytearray()

    def chunks() -> Iterator[memoryview]:
        for n in range(6):
            size = len(buffer) if n % 2 else 1000
            buffer[:size] = bytes([n + 1]) * size
            expected.extend(buffer[:size])
            yield memoryview(buffer)[:size]

    with open(tmp_path / "file", "wb") as file:
        written = pour(file.fileno(), chunks(), refusing("file"))
    assert (tmp_path / "file").read_bytes() == expected
    assert written == (len(expected), hashlib.sha256(expected).hexdigest())


def test_other_shapes_are_taken_as_bytes(tmp_path: Path) -> None:
    numbers = array("d", range(1000))
    with open(tmp_path / "file", "wb") as file:
        written = pour(file.fileno(), [memoryview(numbers)], refusing("file"))
    assert written.bytes == 8000
    assert (tmp_path / "file").read_bytes() == numbers.tobytes()


@pytest.mark.parametrize("size", [10, 2 << 20, PIECE_BYTES + 1])
def test_no_thread_is_left(tmp_path: Path, size: int) -> None:
    before = threading.active_count()
    fd = os.open("/dev/full", os.O_WRONLY)
    try:
        with pytest.raises(StoreUnavailable, match="blob: the disk is full"):
            pour(fd, [bytes(size)], refusing("blob"))
    finally:
        os.close(fd)
    with open(tmp_path / "file", "wb") as file:
        pour(file.fileno(), [bytes(size)], refusing("blob"))
    assert threading.active_count() == before
