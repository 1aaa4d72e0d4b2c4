"""Many small files at once: nothing is lost of order, errors, or durability."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from phalanx.checkpoint.folder.together import THREADS, together
from phalanx.checkpoint.reading import problems
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from tests.support.watched_folder import ENDED, WatchedFolder
from tests.support.watched_writers import saved

FILES = 200


def test_results_come_in_the_order_of_the_items() -> None:
    assert together(lambda n: n * n, range(1000)) == [n * n for n in range(1000)]
    assert together(lambda n: n, []) == []


def test_many_are_under_way_together() -> None:
    gate = threading.Barrier(THREADS, timeout=30)
    together(lambda _: gate.wait(), range(3 * THREADS))


def test_after_an_error_no_other_is_begun_and_none_is_left_running() -> None:
    begun: list[int] = []
    ended: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        if number == 5:
            raise ValueError(f"number {number}")
        ended.append(number)

    with pytest.raises(ValueError, match="number 5"):
        together(work, range(100_000))
    assert len(begun) < 100_000
    assert sorted(begun) == sorted([*ended, 5])


class Synced:
    """Notes what was made durable: files, folders."""

    def __init__(self) -> None:
        self.files: list[int] = []
        self.folders: list[int] = []

    def __call__(self, fd: int) -> None:
        seen = os.fstat(fd)
        (self.folders if stat.S_ISDIR(seen.st_mode) else self.files).append(seen.st_ino)


def test_a_commit_of_many_files_asks_the_disk_once_for_all_names(tmp_path: Path) -> None:
    folder = WatchedFolder(tmp_path)
    sync = Synced()
    folder.store = Store(FilesObjects(tmp_path / "root", sync=sync), "synced")
    folder.open()
    folder.put({f"step-1/w{n:03d}.pt": saved(n) for n in range(FILES)})
    sync.folders.clear()
    name = folder.settle(ENDED).committed
    kept = tmp_path / "root" / folder.keys.checkpoint(name) / "files"
    copies = [path.stat().st_ino for path in kept.iterdir()]
    assert len(copies) == FILES + 1  # and the index
    assert set(copies) <= set(sync.files)
    assert kept.stat().st_ino in sync.folders
    assert len(sync.folders) < 30
    assert problems(folder.store, folder.keys.checkpoint(name), name) == ()
    # What is left as it was gets a second name: no byte and hardly a folder is written.
    folder.put({"step-1/w000.pt": saved(7)})
    sync.files.clear()
    sync.folders.clear()
    newer = folder.settle(ENDED).committed
    assert newer > name
    assert len(sync.files) < 10
    assert len(sync.folders) < 30
    assert folder.held(newer) == folder.there()
