"""Any training state as a JSON tree and named runs of bytes, and back. Nothing is pickled.

Plain values stand for themselves: None, bool, str, int, finite float, list. Every JSON object is
one tagged node with exactly one member: `dict` (all keys str), `map` (other keys), `ordered`,
`tuple`, `size`, `set`, `frozenset`, `deque`, `int` (hexadecimal, beyond 53 bits), `float` (the
eight bytes of nan and the infinities), `complex`, `bytes`, `run` (long bytes), `dtype`, `device`,
`tensor`, `view`, `array`, `scalar`. Values come back with the same type, and tensors that shared
memory share it again; plain containers met twice come back as two.
"""

from __future__ import annotations

import base64
import struct
import sys
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

from phalanx.checkpoint import arrays
from phalanx.checkpoint.arrays import Entry, Pending
from phalanx.errors import StateUnsupported

DEEPEST = 100
"""Levels of nesting beyond which a state is refused."""

_EXACT_INT = 1 << 53
_SHORT_BYTES = 1024
_FINITE = float("inf")

Path = tuple[Any, ...]


class Encoded(NamedTuple):
    """A state: its JSON tree, and what has to be written beside it."""

    tree: Any
    entries: tuple[Entry, ...]


def encode(state: Any, where: str = "state") -> Encoded:
    """The tree of `state`; the entries still refer to the live tensors.

    Raises `StateUnsupported` with the path of the first value that no checkpoint can carry.
    """
    walk = _Walk(where)
    tree = walk.node(state, ())
    tensors = arrays.fill(walk.pending, walk.unique)
    return Encoded(tree, (*tensors, *walk.entries))


class _Walk:
    def __init__(self, where: str) -> None:
        self.where = where
        self.pending: list[Pending] = []
        self.entries: list[Entry] = []
        self._names: set[str] = set()
        self._arrays: dict[int, tuple[Any, Any]] = {}
        self._open: set[int] = set()

    def unique(self, name: str) -> str:
        """A name that no other entry has."""
        return unique_name(name, self._names)

    def node(self, value: Any, path: Path) -> Any:
        """The JSON node of one value."""
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if -_EXACT_INT < value < _EXACT_INT else {"int": hex(value)}
        if kind is float:
            finite = -_FINITE < value < _FINITE
            return value if finite else {"float": struct.pack(">d", value).hex()}
        write = _WRITERS.get(kind)
        if write is not None:
            return self._container(write, value, path)
        return self._special(value, path)

    def _container(self, write: Callable[..., Any], value: Any, path: Path) -> Any:
        if id(value) in self._open:
            self._refuse(path, "itself again; a state must be a tree")
        if len(path) >= DEEPEST:
            self._refuse(path, f"more than {DEEPEST} levels; flatten it")
        self._open.add(id(value))
        node = write(self, value, path)
        self._open.discard(id(value))
        return node

    def _special(self, value: Any, path: Path) -> Any:
        if arrays.is_tensor(value):
            reason = arrays.refuse_tensor(value)
            if reason:
                self._refuse(path, reason)
            node: dict[str, Any] = {}
            self.pending.append(Pending(node, value, _name(path)))
            return node
        if arrays.is_numpy(value):
            return self._numpy(value, path)
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Size):
            return {"size": list(value)}
        if torch is not None and isinstance(value, torch.dtype):
            return {"dtype": str(value).removeprefix("torch.")}
        if torch is not None and isinstance(value, torch.device):
            return {"device": str(value)}
        return self._refuse(path, _advice(value))

    def _numpy(self, value: Any, path: Path) -> Any:
        known = self._arrays.get(id(value))
        if known is not None:
            return known[0]
        try:
            node, entry = arrays.numpy_node(value, _name(path), self.unique)
        except StateUnsupported as error:
            self._refuse(path, error.message)
        if entry is not None:
            self.entries.append(entry)
            self._arrays[id(value)] = (node, value)
        return node

    def items(self, values: Any, path: Path) -> list[Any]:
        """Nodes of a sequence."""
        node = self.node
        return [
            item if type(item) is str or item is None else node(item, (*path, i))
            for i, item in enumerate(values)
        ]

    def bytes(self, value: bytes | bytearray, path: Path) -> Any:
        """A node of bytes: short ones inside the tree, long ones as a run of their own."""
        tag = "bytes" if type(value) is bytes else "bytearray"
        if len(value) <= _SHORT_BYTES:
            return {tag: base64.b64encode(value).decode()}
        name = self.unique(_name(path))
        self.entries.append(Entry(name, "U8", (len(value),), 1, bytes(value)))
        return {"run": {"entry": name, "type": tag}}

    def _refuse(self, path: Path, holds: str) -> Any:
        raise StateUnsupported(f"{place(self.where, path)} holds {holds}")


def unique_name(name: str, taken: set[str]) -> str:
    """`name`, or with a number behind it, as no other entry has it; it is added to `taken`."""
    base = "".join(c if c.isprintable() else "_" for c in name) or "value"
    is_reserved = base == "__metadata__"
    n = 0
    chosen = base
    while is_reserved or chosen in taken:
        n += 1
        chosen, is_reserved = f"{base}~{n}", False
    taken.add(chosen)
    return chosen


def place(where: str, path: Path) -> str:
    """`state['sampler'][0]`: a path as Python would write it."""
    return where + "".join(f"[{key!r}]" for key in path)


def _name(path: Path) -> str:
    return ".".join(str(key) for key in path)


def _advice(value: Any) -> str:
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    if callable(getattr(value, "state_dict", None)):
        return f"a {name}; save its state_dict() in its place"
    if callable(value):
        return f"a function or class ({getattr(value, '__qualname__', name)}); save what it needs"
    return f"a {name}; save numbers, strings, lists, dicts, arrays or tensors in its place"


def _dict(walk: _Walk, value: Any, path: Path) -> Any:
    node = walk.node
    if all(type(key) is str for key in value):
        return {"dict": {key: node(item, (*path, key)) for key, item in value.items()}}
    pairs = [[node(key, (*path, key)), node(v, (*path, key))] for key, v in value.items()]
    return {"map": pairs}


def _ordered(walk: _Walk, value: Any, path: Path) -> Any:
    body = _dict(walk, value, path)
    meta = getattr(value, "_metadata", None)
    # torch keeps the versions of its modules' state in this attribute.
    return {"ordered": [body, None if meta is None else walk.node(meta, (*path, "_metadata"))]}


_WRITERS: dict[type, Callable[..., Any]] = {
    dict: _dict,
    OrderedDict: _ordered,
    list: lambda walk, value, path: walk.items(value, path),
    tuple: lambda walk, value, path: {"tuple": walk.items(value, path)},
    set: lambda walk, value, path: {"set": walk.items(value, path)},
    frozenset: lambda walk, value, path: {"frozenset": walk.items(value, path)},
    deque: lambda walk, value, path: {"deque": [walk.items(value, path), value.maxlen]},
    bytes: lambda walk, value, path: walk.bytes(value, path),
    bytearray: lambda walk, value, path: walk.bytes(value, path),
    complex: lambda walk, value, path: {
        "complex": struct.pack(">dd", value.real, value.imag).hex()
    },
}
