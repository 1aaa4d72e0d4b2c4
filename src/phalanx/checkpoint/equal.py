"""Values that every rank wrote: are they one value?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from phalanx.checkpoint.shard import Shard

Opened = tuple[Shard, dict[str, Any]]
"""One rank's shard, and the nodes of its values by name."""


def is_equal(ranks: Sequence[Opened], name: str) -> bool:
    """Whether all ranks wrote the same under a name, to the last bit."""
    first, nodes = ranks[0]
    node = nodes.get(name)
    return all(
        node == others.get(name) and same_bytes(first, other, node) for other, others in ranks[1:]
    )


def same_bytes(one: Shard, other: Shard, node: Any) -> bool:
    """Whether the entries below a node hold the same bytes in two shards."""
    known = set(one.names) & set(other.names)
    return all(one.bytes(name) == other.bytes(name) for name in entries(node) if name in known)


def entries(node: Any) -> list[str]:
    """Names of all entries below a node, and strings of the state that look like one."""
    if type(node) is list:
        return [name for item in node for name in entries(item)]
    if type(node) is not dict:
        return []
    own = [node["entry"]] if type(node.get("entry")) is str else []
    return own + [name for item in node.values() for name in entries(item)]
