"""A folder that is put back: exactly the commit, older checkpoints, nothing else of its kind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from phalanx.checkpoint.folder.record import Known, known_of
from phalanx.checkpoint.folder.scan import look_at
from phalanx.errors import CheckpointUnreadable, StoreUnavailable
from tests.support.watched_folder import WatchedFolder
from tests.support.watched_writers import lightning, saved, trainer


@pytest.fixture
def folder(tmp_path: Path) -> WatchedFolder:
    return WatchedFolder(tmp_path)


def test_what_is_newer_goes(folder: WatchedFolder) -> None:
    for number in (10, 20):
        folder.put(trainer(number, ""))
        folder.settle()
    torn = {name: data[:40] for name, data in trainer(30, "").items()}
    folder.put({**torn, "runs/events.out.tfevents.1": b"x", "checkpoint-40/readme": b"x"})
    (folder.out / "checkpoint-50").mkdir()
    folder.open()
    kept = {**trainer(10, ""), **trainer(20, ""), "runs/events.out.tfevents.1": b"x"}
    assert folder.there() == dict(sorted(kept.items()))
    assert sorted(os.listdir(folder.out)) == ["checkpoint-10", "checkpoint-20", "runs"]


def test_what_was_overwritten_comes_back(folder: WatchedFolder) -> None:
    folder.write(**{"checkpoint.pt": saved(1)})
    folder.settle()
    before = look_at(str(folder.out)).files[0]
    folder.write(**{"checkpoint.pt": saved(2)[:100]})
    assert folder.open().written == ("checkpoint.pt",)
    assert folder.there() == {"checkpoint.pt": saved(1)}
    after = look_at(str(folder.out)).files[0]
    assert (after.mtime_ns, after.mode) == (before.mtime_ns, before.mode & ~0o077)


def test_what_is_right_is_left_alone(folder: WatchedFolder) -> None:
    folder.put(lightning(5, ""))
    folder.settle()
    before = look_at(str(folder.out))
    restored = folder.open()
    assert (restored.written, restored.removed) == ((), ())
    assert look_at(str(folder.out)) == before


def test_on_another_machine(folder: WatchedFolder) -> None:
    folder.put(trainer(10, ""))
    folder.settle()
    folder.out.rename(folder.base / "lost")
    folder.open()
    assert folder.there() == dict(sorted(trainer(10, "").items()))


def test_to_the_beginning(folder: WatchedFolder) -> None:
    folder.write(**{"data.pt": saved(3), "notes.txt": b"mine"})
    shipped = tuple(known_of(entry) for entry in look_at(str(folder.out)).files)
    folder.open(shipped)
    folder.put({"checkpoint.pt": saved(1)[:50], "step_3/model.pt": saved(1)})
    folder.open(shipped)
    assert folder.there() == {"data.pt": saved(3), "notes.txt": b"mine"}
    assert not (folder.out / "step_3").exists()


def test_an_older_one_of_which_something_is_missing(folder: WatchedFolder) -> None:
    """Its writer was killed while it deleted the old one."""
    for number in (10, 20):
        folder.put(trainer(number, ""))
        folder.settle()
    (folder.out / "checkpoint-10" / "optimizer.pt").unlink()
    folder.open()
    assert folder.there() == dict(sorted(trainer(20, "").items()))


def test_links_lead_where_they_led(folder: WatchedFolder) -> None:
    link = folder.out / "last.ckpt"
    folder.write(**{"step=1.ckpt": saved(1)})
    link.symlink_to("step=1.ckpt")
    folder.settle()
    folder.write(**{"step=2.ckpt": saved(2)[:9]})
    link.unlink()
    link.symlink_to("step=2.ckpt")
    (folder.out / "newest.ckpt").symlink_to("step=2.ckpt")
    folder.open()
    assert os.readlink(link) == "step=1.ckpt"
    assert sorted(os.listdir(folder.out)) == ["last.ckpt", "step=1.ckpt"]


def test_pointers_say_again_what_they_said(folder: WatchedFolder) -> None:
    folder.put({"iter_5/model.pt": saved(5), "latest": b"5"})
    folder.settle()
    folder.look(31)
    folder.put({"iter_7/model.pt": saved(7)[:20], "latest": b"7"})
    folder.open()
    assert folder.there() == {"iter_5/model.pt": saved(5), "latest": b"5"}


def test_damage_is_found_before_anything_is_touched(folder: WatchedFolder) -> None:
    folder.put({"best.pt": saved(1), "epoch-1.pt": saved(1)})
    folder.settle()
    path = max((folder.base / "root").rglob("files/0000*"))
    path.chmod(0o600)
    path.write_bytes(b"x" * path.stat().st_size)
    folder.put({"best.pt": saved(2), "epoch-1.pt": saved(2), "epoch-2.pt": saved(2)})
    before = folder.there()
    with pytest.raises(CheckpointUnreadable, match="was altered"):
        folder.open()
    assert folder.there() == before


def test_a_folder_that_cannot_be_written(folder: WatchedFolder) -> None:
    folder.write(**{"checkpoint.pt": saved(1)})
    folder.settle()
    (folder.out / "checkpoint.pt").unlink()
    folder.out.rmdir()
    folder.out.write_text("a file stands there")
    with pytest.raises(StoreUnavailable, match="cannot be restored"):
        folder.open()


def test_a_restore_that_was_broken_off_is_begun_anew(folder: WatchedFolder) -> None:
    folder.put(trainer(10, ""))
    folder.settle()
    for path in sorted((folder.out / "checkpoint-10").iterdir())[::2]:
        path.unlink()
    stage = folder.base / "stage"
    stage.mkdir()
    (stage / "0").write_bytes(b"left over")
    folder.open()
    assert folder.there() == dict(sorted(trainer(10, "").items()))


def test_known_is_by_time_and_size() -> None:
    assert Known("a", 1, 2) != Known("a", 1, 3)
