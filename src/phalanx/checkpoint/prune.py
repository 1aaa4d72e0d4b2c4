"""What may go, and how it goes: marked retired first, deleted only when nobody can be reading it.

A controller prunes by its job's rule, a person by `checkpoints prune`. Never what HEAD or a world
names, never the newest `keep` on the way back from HEAD, never one that a seal might still adopt,
and nothing half-written before a later attempt has committed: until then it may be evidence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from phalanx.checkpoint.find import RETIRED, names, read_head
from phalanx.checkpoint.manifest import order_of
from phalanx.checkpoint.reading import load_manifest
from phalanx.errors import CheckpointUnreadable
from phalanx.frozen import frozen
from phalanx.names import Keys
from phalanx.state import codec
from phalanx.state.gang import Head

if TYPE_CHECKING:
    from phalanx.store.store import Store


@frozen
class Retired:
    """The mark in a checkpoint's folder: since when, by the store's clock."""

    since_ns: int


@frozen
class Rules:
    """`keep` newest committed ones stay; `wait_ns` lies between the mark and the deletion."""

    keep: int
    wait_ns: int
    """Isolation time plus the longest restore."""
    only: frozenset[str] | None = None
    """Of what may go only these, as a person names them; None: all."""


@frozen
class Pruned:
    """What one pass did."""

    retired: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()


def prunable(
    parents: Mapping[str, str | None],
    unfinished: Collection[str],
    head: Head | None,
    keep: int,
    named: Collection[str],
) -> tuple[str, ...]:
    """Names that may be retired, oldest first.

    `parents`: parent by name of every checkpoint that has a manifest; `unfinished`: those that
    have none; `named`: what worlds name.
    """
    if head is None or head.checkpoint is None or head.checkpoint not in parents:
        return ()  # without a readable HEAD any other may be the one to fall back to
    last = order_of(head.checkpoint) or (0, 0)
    kept = _newest(parents, head.checkpoint, max(keep, 1)) | set(named)
    free = [name for name in parents if name not in kept and _is_before(name, last)]
    free += [name for name in unfinished if name not in kept and _attempt_before(name, last)]
    return tuple(sorted(free, key=lambda name: order_of(name) or (0, 0)))


def _newest(parents: Mapping[str, str | None], name: str | None, keep: int) -> set[str]:
    kept: set[str] = set()
    while name is not None and len(kept) < keep and name not in kept:
        kept.add(name)
        parent = parents[name]
        # One that a person pruned leaves a gap: the way back goes on at the newest before it.
        name = parent if parent is None or parent in parents else _newest_before(parents, parent)
    return kept


def _newest_before(parents: Mapping[str, str | None], name: str) -> str | None:
    limit = order_of(name)
    older = [(order, other) for other in parents if (order := order_of(other))]
    return max((item for item in older if limit and item[0] < limit), default=(0, None))[1]


def _is_before(name: str, last: tuple[int, int]) -> bool:
    order = order_of(name)
    return order is not None and order < last


def _attempt_before(name: str, last: tuple[int, int]) -> bool:
    order = order_of(name)
    return order is not None and order[0] < last[0]


def may_go(store: Store, keys: Keys, rules: Rules, named: Collection[str]) -> tuple[str, ...]:
    """Names that a pass of `prune` would retire or delete now, oldest first."""
    head = read_head(store, keys)
    parents, unfinished = _survey(store, keys)
    free = prunable(parents, unfinished, head, rules.keep, named)
    return tuple(name for name in free if rules.only is None or name in rules.only)


def prune(store: Store, keys: Keys, rules: Rules, named: Collection[str]) -> Pruned:
    """One pass: delete what was retired long enough ago, retire what has become free.

    `named` is what the worlds of this job name, read after this job's record. Raises
    `StoreError` when the root refuses.
    """
    free = may_go(store, keys, rules, named)
    now_ns = store.now_ns()
    retired, deleted = [], []
    for name in free:
        since_ns = _retired_since(store, keys, name)
        if since_ns is None:
            store.create(_mark(keys, name), codec.dumps(Retired(now_ns)))
            retired.append(name)
        elif now_ns - since_ns >= rules.wait_ns:
            # The manifest goes first: a folder that is half deleted is no checkpoint.
            store.delete(keys.manifest(name))
            store.delete(keys.checkpoint(name))
            deleted.append(name)
    return Pruned(tuple(retired), tuple(deleted))


def _survey(store: Store, keys: Keys) -> tuple[dict[str, str | None], list[str]]:
    parents: dict[str, str | None] = {}
    unfinished = []
    for name in names(store, keys):
        try:
            parents[name] = load_manifest(store, keys.checkpoint(name), name).parent
        except CheckpointUnreadable:
            unfinished.append(name)
    return parents, unfinished


def _mark(keys: Keys, name: str) -> str:
    return f"{keys.checkpoint(name)}/{RETIRED}"


def _retired_since(store: Store, keys: Keys, name: str) -> int | None:
    found = store.read(_mark(keys, name))
    if found is None:
        return None
    try:
        return codec.loads(Retired, found.data).since_ns
    except ValueError:
        return None
