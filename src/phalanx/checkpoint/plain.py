"""A saved value as others read it: JSON that a person can read, and tensors under their own names.

The JSON is the tree of `checkpoint.tree` with one thing left out: an object that is not one of its
tagged nodes *is* a dict, so `value["param_groups"][0]["lr"]` reads as it would in Python. A dict
whose single key is the word of a tag keeps its own tag. Nothing is lost by that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phalanx.checkpoint import dtypes
from phalanx.checkpoint.arrays import Entry, build_tensor, private_run
from phalanx.checkpoint.shard import Shard
from phalanx.checkpoint.tree import DEEPEST, unique_name
from phalanx.checkpoint.untree import TAGS
from phalanx.errors import CheckpointUnreadable
from phalanx.frozen import frozen

Path = tuple[Any, ...]


@frozen
class Plain:
    """One value: its JSON, and the entries of the SafeTensors file beside it."""

    value: Any
    entries: tuple[Entry, ...]
    """The source of each is a function that gives its bytes."""
    is_weights: bool
    """Whether it is nothing but tensors by name: a module's state."""


def plain(node: Any, shard: Shard) -> Plain:
    """The value of one node of a shard's tree. Raises `CheckpointUnreadable`."""
    walk = _Walk(shard)
    try:
        value = walk.value(node, ())
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise CheckpointUnreadable(f"the tree of the state is malformed: {error}") from error
    return Plain(value, tuple(walk.entries), _is_weights(node))


def _is_weights(node: Any) -> bool:
    body = node.get("dict") if type(node) is dict else None
    if type(node) is dict and "ordered" in node:
        return _is_weights(node["ordered"][0])
    if type(body) is not dict or not body:
        return False
    return all(type(item) is dict and item.keys() <= {"tensor", "view"} for item in body.values())


class _Walk:
    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self.entries: list[Entry] = []
        self._names: set[str] = set()

    def value(self, node: Any, path: Path) -> Any:
        """The JSON of one node."""
        if len(path) > 2 * DEEPEST:
            raise ValueError("nested too deeply")
        if type(node) is list:
            return [self.value(item, (*path, at)) for at, item in enumerate(node)]
        if type(node) is not dict:
            return node
        ((tag, body),) = node.items()
        if tag not in TAGS:
            raise ValueError(f"unknown tag {tag!r}")
        read = _READERS.get(tag)
        return {tag: body} if read is None else read(self, tag, body, path)

    def dict(self, _tag: str, body: Any, path: Path) -> Any:
        """A dict with keys of text stands for itself, where that cannot be misread."""
        found = {key: self.value(item, (*path, key)) for key, item in body.items()}
        return {"dict": found} if len(found) == 1 and found.keys() <= TAGS else found

    def map(self, tag: str, body: Any, path: Path) -> Any:
        """A dict with other keys; its tensors are named by them."""
        pairs = []
        for at, (key, item) in enumerate(body):
            word = at if isinstance(key, (dict, list)) else key
            pairs.append([self.value(key, (*path, at)), self.value(item, (*path, word))])
        return {tag: pairs}

    def ordered(self, tag: str, body: Any, path: Path) -> Any:
        """An ordered dict and what torch keeps beside it."""
        content, meta = body
        return {tag: [self.value(content, path), self.value(meta, (*path, "_metadata"))]}

    def items(self, tag: str, body: Any, path: Path) -> Any:
        """A sequence or a set."""
        return {tag: self.value(body, path)}

    def deque(self, tag: str, body: Any, path: Path) -> Any:
        """Its items and its longest length."""
        return {tag: [self.value(body[0], path), body[1]]}

    def bytes(self, tag: str, body: Any, path: Path) -> Any:
        """A tensor, an array or long bytes, as they lie in the shard."""
        held = body["entry"]
        code, shape = self.shard.kinds[held]
        data = self.shard.bytes(held)
        return {tag: {**body, "entry": self._add(path, code, shape, lambda: data)}}

    def view(self, _tag: str, body: Any, path: Path) -> Any:
        """A tensor over part of a shared run: a whole one here."""
        kind = body["dtype"]
        code, shape = dtypes.stored_as(kind, tuple(body["shape"]))
        data = self.shard.bytes(body["entry"])
        kept = {key: item for key, item in body.items() if key not in ("offset", "stride")}
        name = self._add(path, code, shape, lambda: _gathered(body, data))
        return {"tensor": {**kept, "entry": name}}

    def _add(self, path: Path, code: str, shape: tuple[int, ...], source: Any) -> str:
        name = unique_name(".".join(map(str, path)), self._names)
        self.entries.append(Entry(name, code, shape, dtypes.SIZES[code], source))
        return name


def _gathered(body: Mapping[str, Any], data: memoryview) -> memoryview:
    import torch

    tensor = build_tensor({**body, "parameter": False, "grad": False}, private_run(data), 0)
    flat = tensor.contiguous().reshape(-1).view(torch.uint8)
    return memoryview(flat.numpy())


_READERS: dict[str, Any] = {
    "dict": _Walk.dict,
    "map": _Walk.map,
    "ordered": _Walk.ordered,
    "tuple": _Walk.items,
    "set": _Walk.items,
    "frozenset": _Walk.items,
    "deque": _Walk.deque,
    "tensor": _Walk.bytes,
    "array": _Walk.bytes,
    "run": _Walk.bytes,
    "view": _Walk.view,
}
"""Tags below which more nodes or bytes lie; the others are words by themselves."""
