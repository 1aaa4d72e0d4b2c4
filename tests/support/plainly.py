"""What `checkpoints restore` wrote, read back with json and numpy only, as anybody could."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from phalanx.checkpoint import shard
from phalanx.checkpoint.untree import TAGS, decode


def tagged(value: Any) -> Any:
    """The tree of a readable value: an object that is no tagged node is a dict."""
    if type(value) is list:
        return [tagged(item) for item in value]
    if type(value) is not dict:
        return value
    if len(value) == 1 and value.keys() <= TAGS:
        ((tag, body),) = value.items()
        return {tag: _BODIES.get(tag, lambda words: words)(body)}
    return {"dict": {key: tagged(item) for key, item in value.items()}}


_BODIES: dict[str, Callable[[Any], Any]] = {
    "dict": lambda body: {key: tagged(item) for key, item in body.items()},
    "map": lambda body: [[tagged(key), tagged(item)] for key, item in body],
    "ordered": lambda body: [tagged(body[0]), tagged(body[1])],
    "tuple": tagged,
    "set": tagged,
    "frozenset": tagged,
    "deque": lambda body: [tagged(body[0]), body[1]],
}


def values_in(folder: Path) -> dict[str, Any]:
    """Every value by name; one that the ranks do not share is a list of theirs."""
    about = json.loads((folder / "phalanx.json").read_text())
    return {
        name: [_value(folder, part) for part in said["ranks"]]
        if "ranks" in said
        else _value(folder, said)
        for name, said in about["values"].items()
    }


def _value(folder: Path, part: dict[str, Any]) -> Any:
    if part["file"] is None:
        return decode(tagged(part["value"]), _nothing)
    path = folder / part["file"]
    parsed = shard.parse(memoryview(path.read_bytes()), str(path))
    return decode(tagged(part["value"]), parsed.bytes)


def _nothing(name: str) -> memoryview:
    raise KeyError(name)
