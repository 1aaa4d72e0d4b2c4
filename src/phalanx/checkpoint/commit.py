"""A checkpoint comes into being: all parts, then the manifest, then HEAD moves forward.

`next_commit_move` decides from what was read; `commit` reads, acts and reads again until nothing
is left to do. Any agent may run it, any number of times, and be stopped at any point: a manifest
is created once, and HEAD is swapped only while it is still the HEAD that the decision saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING

from phalanx.checkpoint.manifest import (
    Part,
    manifest_of,
    order_of,
    problem_of_parts,
    read_part,
)
from phalanx.errors import CheckpointUnreadable
from phalanx.frozen import frozen, replace
from phalanx.names import Keys
from phalanx.plan.lineage import Origin
from phalanx.state import codec
from phalanx.state.gang import Head
from phalanx.state.read import read_head

if TYPE_CHECKING:
    from phalanx.store.store import Store

_ROUNDS = 16


@frozen
class WriteManifest:
    """All parts are there: state the whole. `parent` is the checkpoint that HEAD names."""

    parent: str | None


@frozen
class SwapHead:
    """The manifest is there: let HEAD name it."""

    head: Head


@frozen
class Done:
    """HEAD names it."""


@frozen
class Incomplete:
    """Some ranks have not stated their part."""

    missing: tuple[int, ...]


@frozen
class Refused:
    """It cannot be committed, and never will be by this attempt."""

    reason: str


Move = WriteManifest | SwapHead | Done | Incomplete | Refused


def next_commit_move(
    head: Head | None,
    name: str,
    attempt: int,
    parts: Sequence[Part],
    manifest_exists: bool,
    world_size: int,
) -> Move:
    """The next thing to do for checkpoint `name` on behalf of `attempt`."""
    order = order_of(name)
    if order is None:
        return Refused(f"{name!r} is no checkpoint's name")
    if order[0] != attempt:
        return Refused(f"{name} is of attempt {order[0]}, not of attempt {attempt}")
    if head is None or head.attempt < attempt:
        return Refused(f"HEAD is not sealed for attempt {attempt}")
    if head.attempt > attempt:
        return Refused(f"HEAD is sealed for attempt {head.attempt}")
    if head.checkpoint == name:
        return Done()
    if head.checkpoint is not None and (order_of(head.checkpoint) or order) >= order:
        return Refused(f"HEAD names {head.checkpoint}, which is newer")
    if not manifest_exists:
        missing = set(range(world_size)) - {part.rank for part in parts}
        if missing:
            return Incomplete(tuple(sorted(missing)))
        problem = problem_of_parts(parts, name, world_size)
        return Refused(problem) if problem else WriteManifest(head.checkpoint)
    return SwapHead(Head(attempt, name))


class CommitState(str, Enum):
    """How a try to commit ended."""

    COMMITTED = "committed"
    INCOMPLETE = "incomplete"
    REFUSED = "refused"


@frozen
class Commit:
    """Outcome of one try."""

    state: CommitState
    reason: str = ""
    missing: tuple[int, ...] = ()


@frozen
class Committer:
    """On whose behalf: the attempt, its number of ranks, the digest of the code it runs, and
    what its job began from."""

    attempt: int
    world_size: int
    code: str = ""
    init_from: Origin | None = None


def commit(store: Store, keys: Keys, who: Committer, name: str) -> Commit:
    """Commit `name` if it is whole and `who` may. Raises `StoreError` when the root refuses."""
    for _ in range(_ROUNDS):
        head, version = read_head(store, keys)
        manifest_exists = store.read(keys.manifest(name)) is not None
        try:
            parts = () if manifest_exists else _parts(store, keys, who, name)
        except CheckpointUnreadable as error:
            return Commit(CommitState.REFUSED, error.message)
        move = next_commit_move(head, name, who.attempt, parts, manifest_exists, who.world_size)
        if isinstance(move, Done):
            return Commit(CommitState.COMMITTED)
        if isinstance(move, Refused):
            return Commit(CommitState.REFUSED, move.reason)
        if isinstance(move, Incomplete):
            return Commit(CommitState.INCOMPLETE, "parts are missing", move.missing)
        if isinstance(move, WriteManifest):
            whole = manifest_of(parts, move.parent, who.code, store.now_ns())
            whole = replace(whole, init_from=who.init_from)
            store.create(keys.manifest(name), codec.dumps(whole))
        else:
            store.swap(keys.head, codec.dumps(move.head), version)
    return Commit(CommitState.INCOMPLETE, "HEAD moved at every look")


def _parts(store: Store, keys: Keys, who: Committer, name: str) -> tuple[Part, ...]:
    there = set(store.list(keys.parts(name)))
    parts = []
    for rank in range(who.world_size):
        key = keys.part(name, rank)
        found = store.read(key) if key.rpartition("/")[2] in there else None
        if found is not None:
            parts.append(read_part(found.data, name, rank))
    return tuple(parts)
