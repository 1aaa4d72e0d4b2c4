"""From files in a folder to commits: when, what, under which step."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx.checkpoint.find import listing
from phalanx.checkpoint.reading import problems
from tests.support.watched_folder import ALIVE, ENDED, KILLED, WatchedFolder
from tests.support.watched_writers import KINDS, accelerate, lightning, saved, trainer


@pytest.fixture
def folder(tmp_path: Path) -> WatchedFolder:
    return WatchedFolder(tmp_path)


def test_a_file_that_is_written_over_and_over(folder: WatchedFolder) -> None:
    for number in (1, 2):
        folder.write(**{"checkpoint.pt": saved(number)})
        assert folder.look().committed == ""  # it may be written still
        assert folder.look(0.5).committed == f"000000000{number}-0"
        assert folder.look(0.5).committed == ""  # once
    assert folder.held("0000000001-0") == {"checkpoint.pt": saved(1)}
    assert folder.held("0000000002-0") == {"checkpoint.pt": saved(2)}


def test_the_step_is_that_of_the_name(folder: WatchedFolder) -> None:
    folder.put(trainer(20, ""))
    assert folder.settle().committed == "0000000020-0"
    folder.put(trainer(40, ""))
    assert folder.settle().committed == "0000000040-0"
    assert folder.held("0000000040-0") == trainer(40, "")
    assert {known.name for known in folder.index("0000000040-0").known} == set(trainer(20, ""))


@pytest.mark.parametrize("name", ["ckpt_{}.pt", "checkpoint-{}.pt", "step-{}.pt"])
def test_a_date_orders_checkpoints_and_is_no_step(folder: WatchedFolder, name: str) -> None:
    for number, date in enumerate((20261201153000, 20261201153015, 1733000000000123), start=1):
        folder.write(**{name.format(date): saved(number)})
        committed = folder.settle().committed
        assert committed == f"000000000{number}-0"
        assert folder.held(committed) == {name.format(date): saved(number)}


def test_an_unfinished_one_is_told_and_not_committed(folder: WatchedFolder) -> None:
    files = trainer(20, "")
    last = files.pop("checkpoint-20/trainer_state.json")
    folder.put(files)
    for writers in (ALIVE, KILLED, ENDED):
        sight = folder.settle(writers)
        assert not sight.committed
        assert "trainer_state.json is missing" in sight.waiting[0]
    folder.put({"checkpoint-20/trainer_state.json": last})
    assert folder.settle().committed == "0000000020-0"


def test_what_goes_with_it_is_waited_for(folder: WatchedFolder) -> None:
    numbered, copy = lightning(5, "").items()
    folder.put(dict([numbered]))
    folder.put({copy[0]: copy[1][:50]})  # being written
    assert not folder.settle().committed
    folder.put(dict([copy]))
    name = folder.settle().committed
    assert folder.held(name) == lightning(5, "")


def test_a_companion_that_died_half_written(folder: WatchedFolder) -> None:
    folder.put(lightning(5, ""))
    assert folder.settle().committed
    numbered, copy = lightning(9, "").items()
    folder.put({numbered[0]: numbered[1], copy[0]: copy[1][:50]})
    # The script may go on from the copy: without it the new one is worth nothing.
    assert not folder.settle(KILLED).committed
    folder.open()
    assert folder.there() == lightning(5, "")


def test_files_that_nothing_proves_wait_for_their_writer(folder: WatchedFolder) -> None:
    folder.put(accelerate(0, ""))
    assert not folder.settle().committed
    assert not folder.look(20).committed
    folder.put(accelerate(1, ""))  # the writer has gone on
    assert folder.settle().committed == "0000000000-0"
    # From now on it is known which files there are.
    assert folder.settle().committed == "0000000001-0"
    files = accelerate(2, "")
    last = files.popitem()
    folder.put(files)
    assert not folder.settle().committed
    folder.put(dict([last]))
    assert folder.settle().committed == "0000000002-0"


@pytest.mark.parametrize("how", ["ended well", "long quiet"])
def test_or_for_its_end(folder: WatchedFolder, how: str) -> None:
    folder.put(accelerate(3, ""))
    assert not folder.settle().committed
    assert not folder.settle(KILLED).committed
    sight = folder.settle(ENDED) if how == "ended well" else folder.look(31)
    assert sight.committed == "0000000003-0"


def test_two_files_that_go_together(folder: WatchedFolder) -> None:
    folder.put(KINDS["two files"](1, ""))
    assert folder.settle(ENDED).committed
    folder.write(**{"model.pt": saved(2)})
    assert not folder.settle().committed
    assert not folder.settle(KILLED).committed
    folder.write(**{"optimizer.pt": saved(2, 500)})
    assert folder.held(folder.settle().committed) == KINDS["two files"](2, "")


def test_a_file_that_is_left_alone_by_most_saves(folder: WatchedFolder) -> None:
    folder.put({"checkpoint.pth.tar": saved(1), "model_best.pth.tar": saved(1)})
    assert folder.settle(ENDED).committed
    folder.put({"checkpoint.pth.tar": saved(2)})
    assert not folder.settle().committed  # the other may follow
    folder.put({"checkpoint.pth.tar": saved(3)})  # it did not
    held = folder.held(folder.settle().committed)
    assert held == {"checkpoint.pth.tar": saved(3), "model_best.pth.tar": saved(1)}


@pytest.mark.parametrize("when", ["while it is read", "while others are read"])
def test_overwritten_while_it_is_copied(folder: WatchedFolder, when: str) -> None:
    folder.put({"epoch-1.pt": saved(1), "last.pt": saved(1)})
    name = "epoch-1.pt" if when == "while others are read" else "last.pt"
    folder.look()
    folder.objects.meddle = lambda key: folder.put({name: saved(2)})
    sight = folder.look(0.5)
    assert not sight.committed
    assert sight.is_torn
    assert listing(folder.store, folder.keys, ()).rows == ()
    name = folder.settle().committed
    assert folder.held(name) == {k: folder.there()[k] for k in ("epoch-1.pt", "last.pt")}


def test_bytes_that_do_not_fit_their_checksums(folder: WatchedFolder) -> None:
    """Equal in length, with the old directory at the end: only the checksums can tell."""
    old, new = saved(1), saved(2)
    folder.write(**{"checkpoint.pt": new[: len(new) // 2] + old[len(new) // 2 :]})
    assert folder.settle().is_torn
    assert not folder.settle(KILLED).committed


def test_a_pointer_goes_with_it_and_never_holds_it_up(folder: WatchedFolder) -> None:
    folder.put({"iter_5/model.pt": saved(5), "latest_iteration.txt": b"5", "train.log": b"..."})
    folder.objects.meddle_at = "/00001"
    folder.objects.meddle = lambda key: folder.put({"latest_iteration.txt": b"6"})
    name = folder.settle(ENDED).committed
    assert folder.held(name) == {"iter_5/model.pt": saved(5)}
    folder.put({"iter_7/model.pt": saved(7), "latest_iteration.txt": b"7"})
    name = folder.settle().committed
    assert folder.held(name)["latest_iteration.txt"] == b"7"


def test_what_is_written_all_the_time_holds_nothing_up(folder: WatchedFolder) -> None:
    folder.put({"epoch-1.pt": saved(1), "samples.pkl": b"\x80\x04 some pickle that grows"})
    assert folder.settle().committed == "0000000001-0"


def test_an_attempt_that_is_over_commits_nothing(folder: WatchedFolder) -> None:
    old = folder.follower
    folder.open()
    folder.write(**{"checkpoint.pt": saved(1)})
    old.look(int(folder.now_s * 1e9), ALIVE)
    sight = old.look(int((folder.now_s + 1) * 1e9), ALIVE)
    assert "HEAD is sealed for attempt 1" in sight.refused
    assert folder.head() is None


def test_steps_without_numbers_go_on_after_the_restored_one(folder: WatchedFolder) -> None:
    for number in (1, 2, 3):
        folder.write(**{"checkpoint.pt": saved(number)})
        folder.settle()
    folder.open()
    folder.write(**{"checkpoint.pt": saved(4)})
    assert folder.settle().committed == "0000000004-1"


def test_a_script_that_begins_anew_counts_anew(folder: WatchedFolder) -> None:
    folder.write(**{"epoch-9.pt": saved(9)})
    assert folder.settle().committed == "0000000009-0"
    folder.open()
    folder.write(**{"epoch-1.pt": saved(1)})
    assert folder.settle().committed == "0000000001-1"


def test_what_is_unchanged_is_not_copied_again(folder: WatchedFolder) -> None:
    folder.put({"best.pt": saved(1), "epoch-1.pt": saved(1)})
    folder.settle()
    folder.put({"epoch-2.pt": saved(2)})
    name = folder.settle().committed
    inodes = {
        path.stat().st_ino
        for path in (folder.base / "root").rglob("*")
        if path.is_file() and path.read_bytes() == saved(1)
    }
    assert folder.held(name) == {"best.pt": saved(1), "epoch-2.pt": saved(2)}
    assert len(inodes) == 2  # best.pt under two names, epoch-1.pt


def test_listed_and_verified_like_every_checkpoint(folder: WatchedFolder) -> None:
    folder.write(**{"checkpoint.pt": saved(1)})
    name = folder.settle().committed
    (row,) = listing(folder.store, folder.keys, ()).rows
    assert row.committed
    assert row.bytes > len(saved(1))
    assert problems(folder.store, folder.keys.checkpoint(name), name) == ()
    path = next((folder.base / "root").rglob("files/00000"))
    path.chmod(0o600)
    path.write_bytes(saved(2))
    assert "was altered" in problems(folder.store, folder.keys.checkpoint(name), name)[0]
