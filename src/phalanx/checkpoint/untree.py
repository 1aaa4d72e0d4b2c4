"""The way back: a JSON tree and a source of bytes as the training state it was.

A tree is read as data only: it names element types from a closed table and nothing else, so a
hostile one can at worst be refused.
"""

from __future__ import annotations

import base64
import struct
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

from phalanx.checkpoint import arrays
from phalanx.checkpoint.tree import DEEPEST
from phalanx.errors import CheckpointUnreadable

Source = Callable[[str], memoryview]
"""Bytes of an entry by name; `KeyError` when there is none."""


def decode(tree: Any, source: Source) -> Any:
    """The state that `tree.encode` took apart; tensors are on the CPU, in memory of their own.

    Raises `CheckpointUnreadable` when the tree is malformed or an entry is missing or too short.
    """
    try:
        return _Build(source).value(tree, 0)
    except _MALFORMED as error:
        detail = " ".join(str(error).split())[:200]
        raise CheckpointUnreadable(
            f"the tree of the state is malformed: {type(error).__name__}: {detail}"
        ) from error


_MALFORMED = (
    *(KeyError, TypeError, ValueError, IndexError, AttributeError),
    *(OverflowError, RuntimeError, struct.error),
)


class _Build:
    def __init__(self, source: Source) -> None:
        self.source = source
        self._runs: dict[str, Any] = {}
        self._tensors: dict[str, Any] = {}
        self._arrays: dict[str, Any] = {}

    def value(self, node: Any, depth: int) -> Any:
        """The value of one node."""
        if depth > 4 * DEEPEST:
            raise ValueError("nested too deeply")
        if type(node) is list:
            return self.items(node, depth)
        if type(node) is not dict:
            return node
        (tag, body), *more = node.items()
        if more:
            raise ValueError("a node with two tags")
        return _READERS[tag](self, body, depth + 1)

    def items(self, nodes: list[Any], depth: int) -> list[Any]:
        """Values of a list of nodes."""
        if type(nodes) is not list:
            raise TypeError("not a list")
        value = self.value
        return [value(node, depth + 1) for node in nodes]

    def tensor(self, body: Any, _depth: int) -> Any:
        """A tensor; equal nodes give the same object, nodes of one entry the same memory."""
        key = repr(sorted(body.items()))
        if key not in self._tensors:
            name = body["entry"]
            if name not in self._runs:
                data = self.source(name)
                self._runs[name] = arrays.private_run(data), data.nbytes
            self._tensors[key] = arrays.build_tensor(body, *self._runs[name])
        return self._tensors[key]

    def array(self, body: Any, _depth: int) -> Any:
        """A numpy array; nodes of one entry give the same object."""
        name = body["entry"]
        if name not in self._arrays:
            self._arrays[name] = arrays.build_array(body, self.source(name))
        return self._arrays[name]


def _map(build: _Build, body: Any, depth: int) -> Any:
    pairs = [(build.value(key, depth), build.value(item, depth)) for key, item in body]
    return dict(pairs)


def _ordered(build: _Build, body: Any, depth: int) -> Any:
    content, meta = body
    value = OrderedDict(build.value(content, depth))
    if meta is not None:
        value._metadata = build.value(meta, depth)  # type: ignore[attr-defined]
    return value


def _size(_build: _Build, body: Any, _depth: int) -> Any:
    import torch

    return torch.Size(body)


def _dtype(_build: _Build, body: Any, _depth: int) -> Any:
    import torch

    found = getattr(torch, body)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"not an element type: {body!r}")
    return found


def _device(_build: _Build, body: Any, _depth: int) -> Any:
    import torch

    return torch.device(body)


def _run(build: _Build, body: Any, _depth: int) -> Any:
    kind = {"bytes": bytes, "bytearray": bytearray}[body["type"]]
    return kind(build.source(body["entry"]))


def _dict(build: _Build, body: Any, depth: int) -> Any:
    return {key: build.value(item, depth) for key, item in body.items()}


_READERS: dict[str, Callable[[_Build, Any, int], Any]] = {
    "dict": _dict,
    "map": _map,
    "ordered": _ordered,
    "tuple": lambda build, body, depth: tuple(build.items(body, depth)),
    "size": _size,
    "set": lambda build, body, depth: set(build.items(body, depth)),
    "frozenset": lambda build, body, depth: frozenset(build.items(body, depth)),
    "deque": lambda build, body, depth: deque(build.items(body[0], depth), body[1]),
    "int": lambda _build, body, _depth: int(body, 16),
    "float": lambda _build, body, _depth: struct.unpack(">d", bytes.fromhex(body))[0],
    "complex": lambda _build, body, _depth: complex(*struct.unpack(">dd", bytes.fromhex(body))),
    "bytes": lambda _build, body, _depth: base64.b64decode(body, validate=True),
    "bytearray": lambda _build, body, _depth: bytearray(base64.b64decode(body, validate=True)),
    "run": _run,
    "dtype": _dtype,
    "device": _device,
    "tensor": _Build.tensor,
    "view": _Build.tensor,
    "array": _Build.array,
    "scalar": lambda _build, body, _depth: arrays.build_array(body, bytes.fromhex(body["hex"]))[()],
}

TAGS = frozenset(_READERS)
"""Words of all tagged nodes."""
