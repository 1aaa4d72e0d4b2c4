"""A checkpoint is committed once, whole, forward, and by its own attempt only."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from phalanx.checkpoint.commit import (
    CommitState,
    Committer,
    Done,
    Incomplete,
    Move,
    Refused,
    SwapHead,
    WriteManifest,
    commit,
    next_commit_move,
)
from phalanx.checkpoint.manifest import Part, ShardFile
from phalanx.state import codec
from phalanx.state.gang import Head
from phalanx.store.store import Store
from phalanx.store.writer import writer_id
from tests.support.saves import LossyRoot, Saves
from tests.support.stores import faults

NAME = "0000000400-1"


@pytest.fixture
def saves(tmp_path: Path) -> Saves:
    return Saves(tmp_path)


def parts(world: int = 2) -> tuple[Part, ...]:
    shard = ShardFile("shards/x", 1, "0" * 64)
    return tuple(Part(rank, NAME, 1, 400, world, (shard,)) for rank in range(world))


OLD = Head(1, "0000000500-0")


@pytest.mark.parametrize(
    ("head", "have", "manifest_exists", "move"),
    [
        (OLD, parts(), False, WriteManifest("0000000500-0")),
        (Head(1), parts(), False, WriteManifest(None)),
        (OLD, (), True, SwapHead(Head(1, NAME))),
        (Head(1, NAME), (), True, Done()),
        (OLD, parts()[1:], False, Incomplete((0,))),
        (OLD, (), False, Incomplete((0, 1))),
        (None, parts(), False, Refused("HEAD is not sealed for attempt 1")),
        (Head(0), parts(), False, Refused("HEAD is not sealed for attempt 1")),
        (Head(2, "0000000500-0"), parts(), True, Refused("HEAD is sealed for attempt 2")),
        (
            Head(1, "0000000401-1"),
            parts(),
            True,
            Refused("HEAD names 0000000401-1, which is newer"),
        ),
    ],
)
def test_the_next_move(
    head: Head | None, have: tuple[Part, ...], manifest_exists: bool, move: Move
) -> None:
    assert next_commit_move(head, NAME, 1, have, manifest_exists, 2) == move


def test_names_and_parts_of_others_are_refused() -> None:
    assert next_commit_move(OLD, "latest", 1, (), True, 2) == Refused(
        "'latest' is no checkpoint's name"
    )
    assert next_commit_move(OLD, "0000000400-0", 1, (), True, 2) == Refused(
        "0000000400-0 is of attempt 0, not of attempt 1"
    )
    assert isinstance(next_commit_move(OLD, NAME, 1, parts(3), False, 2), Refused)


def test_a_commit_waits_for_all_parts_then_moves_head(saves: Saves) -> None:
    saves.seal(0)
    name = saves.write(10, 0, rank=1, world=2)
    waiting = saves.commit(name, 0, world=2)
    assert (waiting.state, waiting.missing) == (CommitState.INCOMPLETE, (0,))
    assert saves.head() == Head(0)
    saves.write(10, 0, rank=0, world=2)
    assert saves.commit(name, 0, world=2).state is CommitState.COMMITTED
    assert saves.head() == Head(0, name)
    assert saves.commit(name, 0, world=2).state is CommitState.COMMITTED
    manifest = saves.manifest(name)
    assert (manifest.parent, manifest.code, manifest.world_size) == (None, "c0de", 2)
    assert manifest.bytes == sum(
        saves.path(name, shard.name).stat().st_size for shard in manifest.shards
    )


def test_the_parent_is_what_head_named(saves: Saves) -> None:
    first = saves.committed(10)
    second = saves.committed(20)
    assert saves.manifest(second).parent == first


def test_a_stale_attempt_is_refused_before_and_after_its_manifest(saves: Saves) -> None:
    first = saves.committed(10)
    late = saves.write(20, 0)
    saves.seal(1)
    refused = saves.commit(late, 0)
    assert (refused.state, refused.reason) == (
        CommitState.REFUSED,
        "HEAD is sealed for attempt 1",
    )
    assert saves.head() == Head(1, first)
    assert saves.store.read(saves.keys.manifest(late)) is None


def test_head_never_goes_back(saves: Saves) -> None:
    saves.seal(0)
    slow = saves.write(10, 0)
    fast = saves.committed(20)
    assert saves.commit(slow, 0).state is CommitState.REFUSED
    assert saves.head() == Head(0, fast)
    lower = saves.committed(15, attempt=1)  # a later attempt may start further back
    assert saves.head() == Head(1, lower)


def test_a_part_that_names_a_foreign_file_is_not_committed(saves: Saves) -> None:
    saves.seal(0)
    part = Part(0, "0000000010-0", 0, 10, 1, (ShardFile("../../x", 1, "0" * 64),))
    saves.store.create(saves.keys.part(part.name, 0), codec.dumps(part))
    refused = saves.commit(part.name, 0)
    assert refused.state is CommitState.REFUSED
    assert "not inside the checkpoint's folder" in refused.reason
    saves.store.create(saves.keys.part("0000000020-0", 0), b"garbage")
    assert "malformed" in saves.commit("0000000020-0", 0).reason


@pytest.mark.parametrize("seed", range(8))
def test_many_agents_and_lost_answers_commit_once(saves: Saves, seed: int) -> None:
    saves.seal(0)
    names = [saves.write(step, 0) for step in (10, 20, 30)]
    outcomes: list[CommitState] = []

    def work(number: int) -> None:
        kinds = ("after", "before", "echo", "late")
        lossy = LossyRoot(saves.store.objects, faults(seed * 10 + number, kinds))
        store = Store(lossy, writer_id(), pause=lambda _: None)
        for name in names:
            outcomes.append(commit(store, saves.keys, Committer(0, 1), name).state)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 9
    assert set(outcomes) <= {CommitState.COMMITTED, CommitState.REFUSED}
    assert saves.head() == Head(0, names[-1])
    assert saves.manifest(names[-1]).parent in (None, *names[:-1])
