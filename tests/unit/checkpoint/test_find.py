"""The newest checkpoint that may be used is found over parents, and the rest is told why not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from phalanx.checkpoint.find import choose, listing, newest_adoptable, verify
from phalanx.checkpoint.reading import open_shard
from phalanx.checkpoint.verify import verify_folder
from phalanx.errors import CheckpointUnreadable, InputError, StoreUnavailable
from phalanx.state.gang import Head
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id
from tests.support.saves import Saves


@pytest.fixture
def saves(tmp_path: Path) -> Saves:
    return Saves(tmp_path)


def chosen(saves: Saves, *unreadable: str) -> str | None:
    return choose(saves.store, saves.keys, saves.head(), unreadable).name


def test_nothing_is_chosen_before_the_first_commit(saves: Saves) -> None:
    assert chosen(saves) is None
    saves.seal(0)
    saves.write(10, 0)
    assert chosen(saves) is None


def test_the_way_back_leads_over_parents_not_over_names(saves: Saves) -> None:
    ten = saves.committed(10)
    ninety = saves.committed(90)
    saves.seal(1, checkpoint=ten)  # the world of attempt 1 could not read step 90
    twenty = saves.committed(20, attempt=1)
    assert chosen(saves) == twenty
    choice = choose(saves.store, saves.keys, saves.head(), [twenty])
    assert choice.name == ten
    assert choice.refused == ((twenty, "a rank could not read it"),)
    assert ninety not in dict(choice.refused)
    assert chosen(saves, twenty, ten) is None


def test_a_wrong_manifest_is_refused_and_the_next_whole_one_taken(saves: Saves) -> None:
    first, second, third = (saves.committed(step) for step in (10, 20, 30))
    path = saves.path(third, "manifest")
    path.write_bytes(path.read_bytes()[:-20])
    choice = choose(saves.store, saves.keys, saves.head(), [second])
    assert choice.name == first
    assert [name for name, _ in choice.refused] == [third, second]
    assert "malformed" in choice.refused[0][1]
    saves.path(second, "manifest").unlink()
    assert chosen(saves) == first
    shutil.rmtree(saves.path(first, "."))
    assert chosen(saves) is None


def test_manifests_that_turn_in_a_circle_end_somewhere(saves: Saves) -> None:
    first, second = saves.committed(10), saves.committed(20)
    path = saves.path(first, "manifest")
    path.write_bytes(
        path.read_bytes().replace(b'"parent":null', b'"parent":"%b"' % second.encode())
    )
    assert saves.manifest(first).parent == second
    assert chosen(saves, first, second) is None


def test_a_whole_checkpoint_that_came_too_late_is_adopted(saves: Saves) -> None:
    first = saves.committed(10)
    late = saves.write(20, 0)
    adopt = lambda *unreadable: newest_adoptable(  # noqa: E731
        saves.store, saves.keys, saves.head(), 1, unreadable
    )
    assert adopt() is None, "a checkpoint without a manifest does not exist"
    saves.commit(late, 0)
    saves.store.delete(saves.keys.head)
    saves.seal(0, checkpoint=first)  # as if the swap of HEAD had been lost
    assert adopt() == late
    assert adopt(late) is None
    assert newest_adoptable(saves.store, saves.keys, Head(0, first), 0, ()) is None
    path = saves.path(late, "manifest")
    path.write_bytes(path.read_bytes()[:-1])
    assert adopt() is None


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def link_away(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (cut, "bytes where"),
        (flip, "was altered: its sha256 is not the one written"),
        (Path.unlink, "is missing"),
        (link_away, "symbolic link"),
        (lambda path: (path.unlink(), path.mkdir()), "shards/00000-0"),
    ],
    ids=["cut", "flipped", "missing", "link", "folder"],
)
def test_a_harmed_shard_is_named(saves: Saves, harm: Callable[[Path], object], says: str) -> None:
    name = saves.committed(10)
    assert verify(saves.store, saves.keys, name) == ()
    shard = saves.manifest(name).shards[0]
    harm(saves.path(name, shard.name))
    with pytest.raises(CheckpointUnreadable, match=says) as caught:
        open_shard(saves.store, saves.keys.checkpoint(name), shard)
    assert "0000000010-0/shards/00000-0.safetensors" in caught.value.message
    assert verify(saves.store, saves.keys, name) == (caught.value.message,)


def test_a_root_that_is_gone_is_not_blamed_on_the_checkpoint(saves: Saves) -> None:
    name = saves.committed(10)
    shard = saves.manifest(name).shards[0]
    shutil.rmtree(saves.root)
    with pytest.raises(StoreUnavailable):
        open_shard(saves.store, saves.keys.checkpoint(name), shard)
    with pytest.raises(StoreUnavailable):
        saves.manifest(name)


def test_the_listing_tells_everything(saves: Saves) -> None:
    first = saves.committed(10)
    saves.seal(1)
    unfinished = saves.write(20, 1, rank=0, world=2)
    second = saves.committed(30, attempt=1)
    cut(saves.path(second, saves.manifest(second).shards[0].name))
    quick = listing(saves.store, saves.keys)
    assert quick.resume_from == second
    assert [(r.name, r.committed, r.verified, r.refused_because) for r in quick.rows] == [
        (second, True, None, None),
        (unfinished, False, None, "0000000020-1 has no manifest"),
        (first, True, None, None),
    ]
    assert (quick.rows[0].step, quick.rows[0].attempt, quick.rows[0].world_size) == (30, 1, 1)
    assert quick.rows[0].bytes == saves.manifest(second).bytes
    thorough = listing(saves.store, saves.keys, [first], read_all=True)
    assert [(r.name, r.verified) for r in thorough.rows] == [
        (second, False),
        (unfinished, False),
        (first, True),
    ]
    assert "bytes where" in (thorough.rows[0].refused_because or "")
    json.dumps([row.__dict__ for row in thorough.rows])


def test_a_manifest_that_head_never_named_is_told(saves: Saves) -> None:
    first = saves.committed(10)
    lost = saves.committed(20)
    saves.store.delete(saves.keys.head)
    saves.seal(0, checkpoint=first)
    rows = {row.name: row for row in listing(saves.store, saves.keys).rows}
    assert (rows[lost].committed, rows[lost].refused_because) == (False, "HEAD never named it")


def open_at(path: str) -> Store:
    return Store(FilesObjects.open(path), writer_id())


@pytest.mark.parametrize("at", ["", "jobs/job-1", "jobs/job-1/checkpoints"])
def test_folders_of_many_checkpoints_are_verified(saves: Saves, at: str) -> None:
    good, bad = saves.committed(10), saves.committed(20)
    saves.write(30, 0)  # unfinished: not a checkpoint
    cut(saves.path(bad, "shards/00000-0.safetensors"))
    verdicts = verify_folder(str(Path(saves.root, at)), open_at)
    assert [(v.name, bool(v.problems)) for v in verdicts] == [(good, False), (bad, True)]
    assert all(Path(v.where).is_dir() for v in verdicts)


def test_one_folder_is_verified_also_as_a_copy(saves: Saves, tmp_path: Path) -> None:
    name = saves.committed(10)
    (verdict,) = verify_folder(str(saves.path(name, "")), open_at)
    assert (verdict.name, verdict.problems) == (name, ())
    copy = shutil.copytree(saves.path(name, ""), tmp_path / "copy")
    (verdict,) = verify_folder(str(copy), open_at)
    assert verdict.problems == ()
    cut(copy / "shards/00000-0.safetensors")
    (verdict,) = verify_folder(str(copy), open_at)
    assert len(verdict.problems) == 1
    (unfinished,) = verify_folder(str(saves.path(saves.write(20, 0), "")), open_at)
    assert unfinished.problems == ("0000000020-0 has no manifest",)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no checkpoint"):
        verify_folder(str(tmp_path / "empty"), open_at)


def test_a_copy_whose_manifest_leads_outside_is_refused(saves: Saves) -> None:
    name = saves.committed(10)
    path = saves.path(name, "manifest")
    harmed = path.read_bytes().replace(b"shards/00000-0.safetensors", b"../../../../outside")
    path.write_bytes(harmed)
    (verdict,) = verify_folder(str(path.parent), open_at)
    assert "not inside the checkpoint's folder" in verdict.problems[0]
