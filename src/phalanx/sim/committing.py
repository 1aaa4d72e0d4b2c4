"""Commits and seals, one store operation at a time, by the real decisions."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from phalanx.agent.protocol import Seal
from phalanx.checkpoint import commit
from phalanx.checkpoint.commit import Commit, CommitState, next_commit_move
from phalanx.checkpoint.find import choose, newest_adoptable
from phalanx.checkpoint.manifest import Part, manifest_of, read_part
from phalanx.state import codec, read
from phalanx.state.gang import Head

if TYPE_CHECKING:
    from phalanx.sim.agent import SimAgent

ROUNDS = 16


def commit_steps(
    agent: SimAgent, who: tuple[int, int], name: str
) -> Generator[float, None, Commit]:
    """`checkpoint.commit.commit`, with a pause wherever another process could get in between.

    `who` is (attempt, ranks). Raises `StoreError` as the store does.
    """
    store, keys, (attempt, size) = agent.store, agent.scene.keys, who
    for _ in range(ROUNDS):
        head, version = read.read_head(store, keys)
        yield agent.lag()
        manifest_exists = store.read(keys.manifest(name)) is not None
        parts = () if manifest_exists else _parts(agent, name, size)
        move = next_commit_move(head, name, attempt, parts, manifest_exists, size)
        yield agent.lag()
        if isinstance(move, commit.Done):
            return Commit(CommitState.COMMITTED)
        if isinstance(move, commit.Refused):
            return Commit(CommitState.REFUSED, move.reason)
        if isinstance(move, commit.Incomplete):
            return Commit(CommitState.INCOMPLETE, "parts are missing", move.missing)
        if isinstance(move, commit.WriteManifest):
            whole = manifest_of(parts, move.parent, "", store.now_ns())
            store.create(keys.manifest(name), codec.dumps(whole))
        else:
            store.swap(keys.head, codec.dumps(move.head), version)
    return Commit(CommitState.INCOMPLETE, "HEAD moved at every look")


def _parts(agent: SimAgent, name: str, size: int) -> tuple[Part, ...]:
    keys = agent.scene.keys
    there = set(agent.store.list(keys.parts(name)))
    parts = []
    for rank in range(size):
        key = keys.part(name, rank)
        found = agent.store.read(key) if key.rpartition("/")[2] in there else None
        if found is not None:
            parts.append(read_part(found.data, name, rank))
    return tuple(parts)


def seal_steps(agent: SimAgent, move: Seal) -> Generator[float, None, None]:
    """`agent.seal.seal`, with a pause between choosing and swapping."""
    store, keys = agent.store, agent.scene.keys
    adopted = newest_adoptable(store, keys, move.head, move.attempt, move.unreadable)
    yield agent.lag()
    checkpoint = adopted or choose(store, keys, move.head, move.unreadable).name
    yield agent.lag()
    store.swap(keys.head, codec.dumps(Head(move.attempt, checkpoint)), move.version)
