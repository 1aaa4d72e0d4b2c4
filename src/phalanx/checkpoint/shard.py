"""One rank's file of a checkpoint: SafeTensors, written in one pass, read with suspicion.

    8 bytes   length of the header, little endian
    header    JSON: name -> {dtype, shape, data_offsets}, and `__metadata__` (strings only)
    data      the entries back to back, widest elements first, so that all are aligned

The JSON tree of the state travels in `__metadata__` under `phalanx.tree`, so one digest covers
the tree and the tensors, and a shard is readable by every SafeTensors library.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from phalanx.checkpoint import dtypes
from phalanx.checkpoint.arrays import Entry
from phalanx.errors import CheckpointUnreadable
from phalanx.frozen import frozen

TREE = "phalanx.tree"
"""Member of `__metadata__` that holds the JSON tree."""

FORMAT = "phalanx.shard/1"

_ALIGN = 64
_HEADER_MAX = 100_000_000  # the limit of the SafeTensors library
_CHUNK = 16 << 20


@frozen
class Placed:
    """An entry and where its bytes lie in the data section."""

    entry: Entry
    start: int
    end: int


def arrange(entries: Iterable[Entry]) -> tuple[Placed, ...]:
    """Places for all entries: widest elements first, else in their order, without gaps."""
    placed = []
    at = 0
    for entry in sorted(entries, key=lambda entry: -entry.align):
        placed.append(Placed(entry, at, at + entry.size))
        at += entry.size
    return tuple(placed)


def data_size(placed: Sequence[Placed]) -> int:
    """Bytes of the data section."""
    return placed[-1].end if placed else 0


def header(placed: Iterable[Placed], metadata: Mapping[str, str]) -> bytes:
    """The length and the header, padded so that the data starts at a multiple of 64 bytes."""
    table: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    for item in placed:
        table[item.entry.name] = {
            "dtype": item.entry.code,
            "shape": list(item.entry.shape),
            "data_offsets": [item.start, item.end],
        }
    text = json.dumps(table, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % _ALIGN)
    return struct.pack("<Q", len(text)) + text


def chunks(head: bytes, data: memoryview) -> list[bytes | memoryview]:
    """The whole file in pieces, so that hashing and writing overlap.

    A list, not a generator: it says that the memory stays as it is until all of it is written.
    """
    return [head, *(data[at : at + _CHUNK] for at in range(0, data.nbytes, _CHUNK))]


class Shard:
    """A parsed shard: its metadata, and the bytes of every entry."""

    def __init__(
        self,
        metadata: dict[str, str],
        table: dict[str, memoryview],
        kinds: dict[str, tuple[str, tuple[int, ...]]],
    ) -> None:
        self.metadata = metadata
        self.kinds = kinds
        """SafeTensors code and shape of every entry."""
        self._table = table

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all entries."""
        return tuple(self._table)

    def bytes(self, name: str) -> memoryview:
        """Bytes of one entry. Raises `KeyError` when there is none of that name."""
        return self._table[name]

    def tree(self) -> Any:
        """The JSON tree of the state. Raises `CheckpointUnreadable` when it is not there."""
        try:
            return json.loads(self.metadata[TREE])
        except (KeyError, ValueError, RecursionError) as error:
            raise CheckpointUnreadable("it holds no readable state tree") from error


def parse(view: memoryview, name: str) -> Shard:
    """Read the header of a shard whose bytes are `view`; `name` is for messages.

    Raises `CheckpointUnreadable` when the header is malformed, when an entry's size does not fit
    its type and shape, or when entries overlap, leave gaps or leave the file.
    """
    try:
        return _parse(view)
    except (ValueError, TypeError, KeyError, RecursionError, struct.error) as error:
        raise CheckpointUnreadable(f"{name} is not a whole SafeTensors file: {error}") from error


def _parse(view: memoryview) -> Shard:
    if view.nbytes < 8:
        raise ValueError(f"{view.nbytes} bytes are too few")
    (length,) = struct.unpack("<Q", view[:8])
    if length > min(view.nbytes - 8, _HEADER_MAX):
        raise ValueError(f"a header of {length} bytes in a file of {view.nbytes}")
    table = json.loads(bytes(view[8 : 8 + length]), object_pairs_hook=_no_duplicates)
    if type(table) is not dict:
        raise ValueError("the header is no object")
    metadata = table.pop("__metadata__", {})
    if type(metadata) is not dict or any(type(v) is not str for v in metadata.values()):
        raise ValueError("its metadata is not made of strings")
    data = view[8 + length :]
    places = {entry: _place(entry, body) for entry, body in table.items()}
    _check_cover(places, data.nbytes)
    kinds = {entry: (body["dtype"], tuple(body["shape"])) for entry, body in table.items()}
    return Shard(metadata, {entry: data[a:b] for entry, (a, b) in places.items()}, kinds)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name appears twice")
    return found


def _place(name: str, body: Any) -> tuple[int, int]:
    start, end = body["data_offsets"]
    shape = tuple(body["shape"])
    if any(type(n) is not int or n < 0 for n in (start, end, *shape)):
        raise ValueError(f"{name!r} has a size that is no whole number")
    if end - start != dtypes.SIZES[body["dtype"]] * dtypes.count(shape):
        raise ValueError(f"{name!r} has {end - start} bytes, which does not fit its shape")
    return start, end


def _check_cover(places: dict[str, tuple[int, int]], size: int) -> None:
    at = 0
    for name, (start, end) in sorted(places.items(), key=lambda item: item[1]):
        if start != at:
            raise ValueError(f"{name!r} begins at {start} where {at} was due")
        at = end
    if at != size:
        raise ValueError(f"{size} bytes of data where the header tells of {at}")
