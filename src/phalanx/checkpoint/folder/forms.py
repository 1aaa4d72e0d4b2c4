"""Is one file whole? Told from its structure: an archive that ends, a header whose sizes add up.

The bytes come through a `Source`, which reads pieces: a file that its writer cuts short meanwhile
gives short answers, never a fault.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from enum import Enum

from phalanx.checkpoint.folder.zips import problem_of_zip
from phalanx.frozen import frozen

SMALLEST = 16
"""Bytes; no file that holds any state is smaller."""
_HEADER_MAX = 100_000_000  # the limit of the SafeTensors library
_JSON_MAX = 256 << 20


class Form(str, Enum):
    """What a file's structure says of it."""

    WHOLE = "whole"
    TORN = "torn"
    UNKNOWN = "unknown"
    """Nothing in it tells where it ends."""


@frozen
class Source:
    """Bytes to be looked at. `read(at, length)` gives fewer bytes where there are fewer."""

    size: int
    read: Callable[[int, int], bytes | memoryview]


def of_bytes(view: memoryview) -> Source:
    """Bytes in memory, or mapped from a file that nobody changes."""
    return Source(view.nbytes, lambda at, length: view[at : at + length])


def of_file(fd: int, size: int) -> Source:
    """An open file, which somebody may be writing to: it is read, never mapped."""
    return Source(size, lambda at, length: os.pread(fd, length, at))


def form_of(name: str, source: Source, *, deep: bool = False) -> Form:
    """Whether the file is whole. With `deep` the checksums inside an archive are held against
    its bytes, which reads all of them.
    """
    try:
        if source.size < SMALLEST and may_be_model(name):
            return Form.TORN
        if not source.size:
            return Form.WHOLE
        start = bytes(source.read(0, 4))
        if start[:2] == b"PK":
            return _told(problem_of_zip(source.size, source.read, deep=deep))
        if name.endswith(".safetensors"):
            return _told(_problem_of_tensors(source))
        if name.endswith(".json"):
            return _told(_problem_of_json(source))
    except (ValueError, KeyError, TypeError, RecursionError, struct.error):
        return Form.TORN
    return Form.UNKNOWN


def may_be_model(name: str) -> bool:
    """Whether a file of that name usually holds weights or other state of a training."""
    return name.endswith(MODEL)


MODEL = (
    ".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".distcp", ".pth.tar", ".pt.tar", ".npz",
    ".pkl",
)  # fmt: skip
"""Endings of files that hold the state of a training."""


def _told(problem: str) -> Form:
    return Form.TORN if problem else Form.WHOLE


def _problem_of_tensors(source: Source) -> str:
    """The header of a SafeTensors file, held against the length of the file."""
    head = bytes(source.read(0, 8))
    (length,) = struct.unpack("<Q", head)
    if length > min(source.size - 8, _HEADER_MAX):
        return "its header is cut short"
    table = json.loads(bytes(source.read(8, length)))
    ends = [row["data_offsets"][1] for name, row in table.items() if name != "__metadata__"]
    return "" if 8 + length + max(ends, default=0) == source.size else "its data is cut short"


def _problem_of_json(source: Source) -> str:
    if source.size > _JSON_MAX:
        return "it is too long for JSON"
    json.loads(bytes(source.read(0, source.size)))
    return ""
