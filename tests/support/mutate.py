"""Damage to documents and texts, from a seed."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

ODD: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 2**70, 1e308, "", "x", "x" * 3000, "\ue000", "\ud7ff"),
    *("$X", "${a", "1 GB", [], {}, [[]], [None], {"a": {"b": [1]}}),
    *({"Ref": "X"}, {"Fn::If": ["A", 1]}, {"Fn::Sub": "${A.B}"}),
]


def mutate(value: Any, rng: random.Random, count: int) -> Any:
    """A copy with up to `count` members taken away, added or replaced by odd ones."""
    value = deepcopy(value)
    for _ in range(count):
        places = list(_places(value))
        if not places:
            return value
        holder, key = rng.choice(places)
        if rng.random() < 0.3:
            del holder[key]
        elif rng.random() < 0.3 and isinstance(holder, list):
            holder.insert(key, deepcopy(rng.choice(ODD)))
        else:
            holder[key] = deepcopy(rng.choice(ODD))
    return value


def scramble(text: str, rng: random.Random) -> str:
    """The text with some characters taken, doubled or swapped, or with its end cut off."""
    out = list(text)
    for _ in range(rng.randint(1, 6)):
        if not out:
            break
        at = rng.randrange(len(out))
        parts = ["", "{", "}", '"', "\n", "[", "$", "=", "é", "\t", ": ", out[at] * 2, "<<EOF\n"]
        out[at] = rng.choice(parts)
    return "".join(out[: rng.randrange(len(out) + 1)] if rng.random() < 0.1 else out)


def _places(value: Any) -> Any:
    keys: Any = []
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = range(len(value))
    for key in keys:
        yield value, key
        yield from _places(value[key])
