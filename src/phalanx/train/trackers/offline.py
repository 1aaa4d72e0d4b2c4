"""The last step in the files of a W&B run that was kept offline.

Such a file is a log of records in blocks of 32 KiB, each piece with a checksum, a length and its
place in the record (whole, first, middle, last); a record is a protocol buffer of wandb's own.
What a kill has cut short ends the reading of a file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

_BLOCK = 32 * 1024
_HEADER = 7
_WHOLE, _LAST = 1, 4


def last_step(folder: str, run: str) -> int:
    """The last step of `run` in the files below `folder` (`wandb`); -1 when there is none."""
    files = Path(folder).glob(f"offline-run-*-{run}/run-{run}.wandb")
    return max((step for path in sorted(files) for step in steps(path)), default=-1)


def steps(path: Path) -> Iterator[int]:
    """Steps of one file, in the order in which they were logged."""
    wrong = import_module("google.protobuf.message").DecodeError
    kind = import_module("wandb.proto.wandb_internal_pb2").Record
    for data in _records(path.read_bytes()):
        record = kind()
        try:
            record.ParseFromString(data)
        except wrong:
            return
        if record.WhichOneof("record_type") == "history":
            yield from _step(record.history)


def _step(history: Any) -> Iterator[int]:
    for item in history.item:
        if "_step" in (item.key, *item.nested_key):
            yield int(item.value_json)


def _records(data: bytes) -> Iterator[bytes]:
    at, record = _HEADER, b""  # the file's own header is as long as a piece's
    while at + _HEADER <= len(data):
        left = _BLOCK - at % _BLOCK
        if left < _HEADER:
            at += left
            continue
        _, size, kind = struct.unpack_from("<IHB", data, at)
        at += _HEADER
        if not kind or at + size > len(data):
            return
        record += data[at : at + size]
        at += size
        if kind in (_WHOLE, _LAST):
            yield record
            record = b""
