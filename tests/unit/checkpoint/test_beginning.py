"""A job holds what it began from as its own."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from phalanx.checkpoint import beginning
from phalanx.checkpoint.reading import problems
from phalanx.errors import CheckpointUnreadable
from phalanx.names import Keys
from phalanx.plan.lineage import Ancestor, Origin
from tests.support.saves import JOB, Saves

NEW = Keys("new-1")


def origin_in(saves: Saves, name: str) -> Origin:
    found = beginning.read_exactly(saves.store, saves.keys.manifest(name), name)
    return Origin(job=JOB, checkpoint=name, step=found.manifest.step, digest=found.digest)


def test_it_stands_by_itself_and_costs_no_space(tmp_path: Path) -> None:
    saves = Saves(tmp_path)
    name = saves.committed(10)
    origin = origin_in(saves, name)
    beginning.hold(saves.store, NEW, origin)
    theirs = saves.path(name, "shards/00000-0.safetensors")
    ours = Path(saves.root, beginning.held(NEW, name), "shards/00000-0.safetensors")
    assert ours.stat().st_ino == theirs.stat().st_ino
    saves.store.delete(saves.keys.base)
    assert not theirs.exists()
    assert problems(saves.store, beginning.held(NEW, name), name) == ()


def test_the_digest_is_that_of_the_manifest(tmp_path: Path) -> None:
    saves = Saves(tmp_path)
    name = saves.committed(10)
    found = saves.store.read(saves.keys.manifest(name))
    assert found is not None
    assert origin_in(saves, name).digest == hashlib.sha256(found.data).hexdigest()


@pytest.mark.parametrize(
    ("gone", "says"),
    [("manifest", "pruned or replaced"), ("shards/00000-0.safetensors", "is missing")],
)
def test_what_was_pruned_meanwhile_is_no_beginning(tmp_path: Path, gone: str, says: str) -> None:
    saves = Saves(tmp_path)
    name = saves.committed(10)
    origin = origin_in(saves, name)
    saves.store.delete(f"{saves.keys.checkpoint(name)}/{gone}")
    with pytest.raises(CheckpointUnreadable, match=says):
        beginning.hold(saves.store, NEW, origin)


def test_one_submit_alone_has_a_number(tmp_path: Path) -> None:
    saves = Saves(tmp_path)
    origin = Origin(weights="/w", before=(Ancestor(job="a-1", checkpoint="0000000001-0"),))
    assert beginning.read_origin(saves.store, NEW) is None
    assert beginning.claim(saves.store, NEW, origin)
    assert not beginning.claim(saves.store, NEW, origin)
    assert beginning.read_origin(saves.store, NEW) == origin
    beginning.let_go(saves.store, NEW)
    assert beginning.claim(saves.store, NEW, origin)


def test_a_malformed_origin_is_unreadable(tmp_path: Path) -> None:
    saves = Saves(tmp_path)
    saves.store.create(NEW.origin, b"{")
    with pytest.raises(CheckpointUnreadable, match="init/origin is malformed"):
        beginning.read_origin(saves.store, NEW)
    with pytest.raises(CheckpointUnreadable, match="has no manifest"):
        beginning.read_exactly(saves.store, saves.keys.manifest("0000000010-0"), "0000000010-0")
