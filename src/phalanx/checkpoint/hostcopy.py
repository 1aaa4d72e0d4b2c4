"""The only part of a save that training waits for: the copy of the state to host memory.

The memory of one copy is kept and used again by the next, so that the copy runs at the speed of
memory and not of page faults. One copy is in use at a time: whoever writes it out must be done
before the next is taken.
"""

from __future__ import annotations

import json
import mmap
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from phalanx.checkpoint import shard, tree
from phalanx.checkpoint.shard import Placed
from phalanx.frozen import frozen


@frozen
class Frozen:
    """A state as it was at one moment: the header and the data of its shard."""

    header: bytes
    data: memoryview

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self.header) + self.data.nbytes


class HostCopy:
    """Host memory for one copy of the state."""

    def __init__(self) -> None:
        self._memory: Any = None
        self._view = memoryview(b"")
        self._pinned = False

    def take(self, state: Any, metadata: Mapping[str, str], where: str = "state") -> Frozen:
        """Copy `state` into host memory. Raises `StateUnsupported`."""
        encoded = tree.encode(state, where)
        placed = shard.arrange(encoded.entries)
        text = json.dumps(encoded.tree, separators=(",", ":"))
        head = shard.header(placed, {"format": shard.FORMAT, **metadata, shard.TREE: text})
        size = shard.data_size(placed)
        self._ensure(size, any(_on_device(item.entry.source) for item in placed))
        copy_into(placed, self._view)
        return Frozen(head, self._view[:size])

    def _ensure(self, size: int, pinned: bool) -> None:
        if size <= self._view.nbytes and pinned == self._pinned:
            return
        self._view = memoryview(b"")
        self._memory = None
        self._memory = _pinned(size) if pinned else _pages(size)
        self._view = memoryview(self._memory)
        self._pinned = pinned


def _on_device(source: Any) -> bool:
    return bool(getattr(source, "is_cuda", False))


def _pages(size: int) -> Any:
    """Anonymous memory of whole pages, huge ones where the machine gives them."""
    memory = mmap.mmap(-1, max(size, 1))
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def _pinned(size: int) -> Any:
    torch = sys.modules["torch"]
    return torch.empty(max(size, 1), dtype=torch.uint8, pin_memory=True).numpy()


def copy_into(placed: Sequence[Placed], target: memoryview) -> None:
    """Copy every entry's bytes to its place; returns when the bytes are there."""
    torch = sys.modules.get("torch")
    run = None
    waits = False
    for item in placed:
        source = item.entry.source
        if item.start == item.end:
            continue
        if torch is None or not isinstance(source, torch.Tensor):
            target[item.start : item.end] = plain_bytes(source)
            continue
        if run is None:
            run = torch.frombuffer(target, dtype=torch.uint8)
        place = run[item.start : item.end].view(source.dtype).view(source.shape)
        place.copy_(source, non_blocking=source.is_cuda)
        waits = waits or source.is_cuda
    if waits:
        sys.modules["torch"].cuda.synchronize()


def plain_bytes(source: Any) -> memoryview:
    """Bytes of a numpy array or of bytes, in C order."""
    if isinstance(source, bytes):
        return memoryview(source)
    numpy = sys.modules["numpy"]
    flat = numpy.ascontiguousarray(source).reshape(-1)
    return memoryview(flat.view(numpy.uint8))
