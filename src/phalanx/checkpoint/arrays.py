"""Tensors and arrays as entries of a file: described, tied, copied, rebuilt.

torch and numpy are never imported to look at a value: a value of theirs cannot exist before they
are loaded. Tensors that share memory are found by their storage. One tensor seen twice is written
once; different views whose bytes overlap are written as one run of bytes with each view's offset
and strides, so that a change of one still shows in the other after a restore.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from phalanx.checkpoint import dtypes
from phalanx.errors import StateUnsupported
from phalanx.frozen import frozen

_NUMPY_KINDS = frozenset("biufcSUMm")


@frozen
class Entry:
    """One named run of bytes: its type and shape in the file, and the live value behind it."""

    name: str
    code: str
    shape: tuple[int, ...]
    align: int
    source: Any

    @property
    def size(self) -> int:
        """Bytes."""
        return dtypes.SIZES[self.code] * dtypes.count(self.shape)


@frozen
class Pending:
    """A tensor met in the state whose node is filled once all are known."""

    node: dict[str, Any]
    tensor: Any
    name: str


def is_tensor(value: Any) -> bool:
    """Whether a value is a torch tensor of any kind."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def refuse_tensor(tensor: Any) -> str:
    """Why no checkpoint can carry this tensor, and what to do; empty when one can."""
    torch = sys.modules["torch"]
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return f"a {type(tensor).__name__}; save its local plain tensor instead"
    if tensor.layout is not torch.strided:
        return "a sparse tensor; save tensor.to_dense() or its indices and values"
    if tensor.is_quantized:
        return "a quantized tensor; save tensor.int_repr() with its scale and zero point"
    if tensor.device.type == "meta":
        return "a tensor without data (device meta); materialise it first"
    if dtypes.item_size(dtype_name(tensor)) is None:
        return f"a tensor of {tensor.dtype}; convert it to a type of whole bytes"
    return ""


def dtype_name(tensor: Any) -> str:
    """`float32` of `torch.float32`."""
    return str(tensor.dtype).removeprefix("torch.")


def fill(pending: list[Pending], unique: Callable[[str], str]) -> list[Entry]:
    """Fill the nodes of all tensors met; returns what has to be written, each once."""
    entries: list[Entry] = []
    for group in _by_storage(pending):
        for cluster in _overlapping(group):
            if len({_geometry(item.tensor) for item in cluster}) == 1:
                entries.append(_one(cluster, unique))
            else:
                entries.append(_views(cluster, unique))
    return entries


def _by_storage(pending: list[Pending]) -> list[list[Pending]]:
    groups: dict[Any, list[Pending]] = {}
    for item in pending:
        tensor = item.tensor
        lazy = tensor.is_conj() or tensor.is_neg()
        shares = not lazy and tensor.numel() > 0
        key = ("memory", str(tensor.device), tensor.untyped_storage().data_ptr())
        groups.setdefault(key if shares else ("object", id(tensor)), []).append(item)
    return list(groups.values())


def _geometry(tensor: Any) -> tuple[Any, ...]:
    return (tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype)


def _extent(tensor: Any) -> tuple[int, int]:
    """First byte and end of the memory that a tensor reaches, from its storage's start."""
    first = tensor.storage_offset()
    reach = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    size = tensor.element_size()
    return first * size, (first + reach + 1) * size


def _overlapping(group: list[Pending]) -> list[list[Pending]]:
    if len(group) == 1 or group[0].tensor.numel() == 0:
        return [group]
    clusters: list[list[Pending]] = []
    end = -1
    for item in sorted(group, key=lambda item: _extent(item.tensor)):
        start, stop = _extent(item.tensor)
        if start < end:
            clusters[-1].append(item)
        else:
            clusters.append([item])
        end = max(end, stop)
    return clusters


def _common(tensor: Any) -> dict[str, Any]:
    node: dict[str, Any] = {"dtype": dtype_name(tensor), "shape": list(tensor.shape)}
    if type(tensor) is sys.modules["torch"].nn.Parameter:
        node["parameter"] = True
    if tensor.requires_grad and tensor.is_leaf:
        node["grad"] = True
    return node


def _one(cluster: list[Pending], unique: Callable[[str], str]) -> Entry:
    first = cluster[0]
    name = unique(first.name)
    for item in cluster:
        item.node["tensor"] = {"entry": name, **_common(item.tensor)}
    kind = dtype_name(first.tensor)
    code, shape = dtypes.stored_as(kind, tuple(first.tensor.shape))
    return Entry(name, code, shape, dtypes.item_size(kind) or 1, first.tensor.detach())


def _views(cluster: list[Pending], unique: Callable[[str], str]) -> Entry:
    torch = sys.modules["torch"]
    name = unique(cluster[0].name)
    start = min(_extent(item.tensor)[0] for item in cluster)
    start -= start % 16
    stop = max(_extent(item.tensor)[1] for item in cluster)
    for item in cluster:
        offset = item.tensor.storage_offset() - start // item.tensor.element_size()
        node = {"entry": name, "offset": offset, "stride": list(item.tensor.stride())}
        item.node["view"] = {**node, **_common(item.tensor)}
    tensor = cluster[0].tensor
    run = torch.empty(0, dtype=torch.uint8, device=tensor.device)
    run.set_(tensor.untyped_storage(), start, (stop - start,))
    return Entry(name, "U8", (stop - start,), 16, run)


def numpy_node(value: Any, name: str, unique: Callable[[str], str]) -> tuple[Any, Entry | None]:
    """The node of a numpy array or scalar, and what has to be written for it.

    Raises `StateUnsupported` (without a place) for elements that are objects or records.
    """
    numpy = sys.modules["numpy"]
    array = numpy.asarray(value)
    if array.dtype.kind not in _NUMPY_KINDS or array.dtype.hasobject:
        raise StateUnsupported(f"numpy elements of {array.dtype}; use numbers or plain lists")
    plain = {"dtype": array.dtype.str, "shape": list(array.shape)}
    if isinstance(value, numpy.generic):
        return {"scalar": {**plain, "hex": array.tobytes().hex()}}, None
    entry = unique(name)
    return {"array": {"entry": entry, **plain}}, _numpy_entry(entry, array)


def _numpy_entry(name: str, array: Any) -> Entry:
    code = dtypes.CODES.get(array.dtype.name) if array.dtype.isnative else None
    if code:
        return Entry(name, code, tuple(array.shape), array.dtype.itemsize, array)
    return Entry(name, "U8", (*array.shape, array.dtype.itemsize), 1, array)


def is_numpy(value: Any) -> bool:
    """Whether a value is a plain numpy array or scalar."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return False
    return type(value) in (numpy.ndarray, numpy.memmap) or isinstance(value, numpy.generic)


def build_tensor(node: Mapping[str, Any], run: Any, held: int) -> Any:
    """The tensor of a node over `run`, the padded byte tensor of its entry of `held` bytes."""
    import torch

    name = node["dtype"]
    size = dtypes.item_size(name)
    if size is None:
        raise ValueError(f"unknown element type {name!r}")
    kind = getattr(torch, name)
    if "stride" in node:
        tensor = run.view(kind).as_strided(node["shape"], node["stride"], node["offset"])
    else:
        if size * dtypes.count(tuple(node["shape"])) != held:
            raise ValueError(f"{held} bytes for {name} of shape {node['shape']}")
        tensor = run[:held].view(kind).view(node["shape"])
    if node.get("parameter"):
        return torch.nn.Parameter(tensor, requires_grad=bool(node.get("grad")))
    return tensor.requires_grad_() if node.get("grad") else tensor


def private_run(data: memoryview) -> Any:
    """A fresh byte tensor that holds a copy of `data`, padded to a multiple of 16 bytes.

    torch's own allocation, not the mapped file: its alignment is what a fresh run would have.
    """
    import torch

    size = data.nbytes
    run = torch.empty(size + -size % 16, dtype=torch.uint8)
    if size:
        memoryview(run.numpy())[:size] = data
        run[size:] = 0
    return run


def build_array(node: Mapping[str, Any], data: memoryview | bytes) -> Any:
    """The numpy array of a node, with memory of its own."""
    import numpy

    dtype = numpy.dtype(node["dtype"])
    if dtype.kind not in _NUMPY_KINDS:
        raise ValueError(f"unknown element type {node['dtype']!r}")
    shape = tuple(node["shape"])
    if dtype.itemsize * dtypes.count(shape) != len(data):
        raise ValueError(f"{len(data)} bytes for {dtype} of shape {shape}")
    array = numpy.empty(shape, dtype)
    if array.nbytes:
        array.reshape(-1).view(numpy.uint8)[:] = numpy.frombuffer(data, numpy.uint8)
    return array
