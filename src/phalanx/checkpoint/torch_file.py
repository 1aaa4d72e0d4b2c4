"""One file that `torch.load(path, weights_only=True)` takes: plain values and tensors only."""

from __future__ import annotations

import os
from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Any

from phalanx.checkpoint.arrays import is_numpy
from phalanx.checkpoint.untree import decode
from phalanx.errors import CheckpointError

if TYPE_CHECKING:
    from phalanx.checkpoint.restore import Values


def write(path: str, about: dict[str, Any], values: Values) -> int:
    """Write `{"step", "state", "per_rank", "about"}`; returns the file's size.

    Holds the whole state in memory. Raises `CheckpointError` where torch is not installed and
    `OSError` when the file cannot be written.
    """
    try:
        import torch
    except ImportError:
        raise CheckpointError(
            "torch is not installed here", hint="take --format safetensors"
        ) from None
    state: dict[str, Any] = {}
    per_rank: dict[str, Any] = {}
    for name, count in values.names:
        found = [_loadable(_value(values, rank, name)) for rank in range(count)]
        if count == 1:
            state[name] = found[0]
        else:
            per_rank[name] = found
    content = {"step": about["step"], "state": state, "per_rank": per_rank, "about": about}
    with open(path, "xb") as file:
        try:
            torch.save(content, file)
        except RuntimeError as error:
            # torch puts its own error over that of the file, which says what is wrong.
            if isinstance(error.__context__, OSError):
                raise error.__context__ from None
            raise
        file.flush()
        os.fsync(file.fileno())
        return os.fstat(file.fileno()).st_size


def _value(values: Values, rank: int, name: str) -> Any:
    opened, nodes = values.ranks[rank]
    return decode(nodes[name], opened.bytes)


def _loadable(value: Any) -> Any:
    """A value of the same meaning that needs no class but torch's own."""
    if isinstance(value, OrderedDict):
        return _ordered(value)
    if isinstance(value, dict):
        return {_key(key): _loadable(item) for key, item in value.items()}
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(_loadable, value))
    if isinstance(value, (list, deque)):
        return list(map(_loadable, value))
    if isinstance(value, (set, frozenset)):
        return [_loadable(item) for item in value]
    return _of_numpy(value) if is_numpy(value) else _single(value)


def _single(value: Any) -> Any:
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, bytes) and not value:
        return bytearray()  # the one bytes that only a class could make
    detach = getattr(value, "detach", None)
    return value if detach is None else detach()


def _ordered(value: OrderedDict[Any, Any]) -> OrderedDict[Any, Any]:
    return OrderedDict((_key(key), _loadable(item)) for key, item in value.items())


def _key(key: Any) -> Any:
    """Keys must stay hashable."""
    return tuple(map(_key, key)) if type(key) is tuple else _loadable_key(key)


def _loadable_key(key: Any) -> Any:
    found = "" if key == b"" else _loadable(key)
    return tuple(found) if isinstance(found, list) else found


def _of_numpy(value: Any) -> Any:
    """Numbers become tensors, times their number of units, text and bytes lists of themselves."""
    import numpy
    import torch

    array = numpy.asarray(value)
    if array.dtype.kind in "mM":
        array = array.astype("int64")
    if isinstance(value, numpy.generic):
        return _loadable(array.item())
    if array.dtype.kind in "SU":
        return _loadable(array.tolist())
    native = numpy.ascontiguousarray(array.astype(array.dtype.newbyteorder("=")))
    try:
        return torch.from_numpy(native).reshape(array.shape)
    except TypeError:
        return native.tolist()
