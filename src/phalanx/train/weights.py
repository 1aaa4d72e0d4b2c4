"""Weights for others to use: one plain SafeTensors file, readable without phalanx or torch."""

from __future__ import annotations

import os
from typing import Any

from phalanx.checkpoint import dtypes, shard
from phalanx.checkpoint.arrays import Entry, dtype_name, is_tensor, refuse_tensor
from phalanx.checkpoint.hostcopy import copy_into
from phalanx.errors import CheckpointError, StateUnsupported
from phalanx.train.values import unwrapped


def export(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the tensors of `model` (a module or a dict of tensors) to `path`, whole or not at all.

    Tied weights appear under each of their names. Under a launcher only rank 0 writes. Raises
    `StateUnsupported` for a tensor that SafeTensors has no type for, `CheckpointError` when the
    file cannot be written.
    """
    if os.environ.get("RANK", "0") != "0":
        return
    model = unwrapped(model)
    tensors = model.state_dict() if hasattr(model, "state_dict") else model
    placed = shard.arrange([_entry(name, tensor) for name, tensor in tensors.items()])
    data = memoryview(bytearray(shard.data_size(placed)))
    if data.nbytes:
        copy_into(placed, data)
    try:
        _write(os.fspath(path), shard.header(placed, {"format": "pt"}), data)
    except OSError as error:
        raise CheckpointError(f"{os.fspath(path)} cannot be written: {error.strerror}") from error


def _entry(name: str, tensor: Any) -> Entry:
    reason = refuse_tensor(tensor) if is_tensor(tensor) else f"a {type(tensor).__name__}"
    if not reason and dtype_name(tensor) not in dtypes.CODES:
        reason = f"a tensor of {tensor.dtype}, which SafeTensors has no name for"
    if reason:
        raise StateUnsupported(f"{name!r} cannot be exported: it is {reason}")
    code = dtypes.CODES[dtype_name(tensor)]
    return Entry(name, code, tuple(tensor.shape), dtypes.SIZES[code], tensor.detach())


def _write(path: str, head: bytes, data: memoryview) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    draft = f"{path}.{os.getpid()}.tmp"
    try:
        with open(draft, "wb") as file:
            for chunk in shard.chunks(head, data):
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        if os.path.exists(draft):
            os.unlink(draft)
        raise
    above = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(above)
    finally:
        os.close(above)
