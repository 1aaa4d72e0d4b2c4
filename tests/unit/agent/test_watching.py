"""Care of the watched folder: who restores, who waits, what is told of progress."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from phalanx.agent.seat import SeatPlace
from phalanx.agent.watching import AttemptWatch, Watching
from phalanx.checkpoint.folder.readiness import Writers
from phalanx.errors import CheckpointUnreadable, InputError
from phalanx.names import Keys
from phalanx.plan.job import CheckpointPlan, JobPlan
from phalanx.state.gang import Member, World
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from tests.support.saves import JOB, Saves
from tests.support.waiting import until
from tests.support.watched_writers import saved


class Task:
    """One task's agent, as far as the folder goes."""

    def __init__(self, base: Path, slot: int = 0, directory: str = "./out") -> None:
        self.saves = Saves(base)
        source = Path(self.saves.root, Keys(JOB).base, "source")
        self.work = source / "unpacked"
        self.work.mkdir(parents=True, exist_ok=True)
        plan = JobPlan(
            "job",
            ("python", "train.py"),
            nodes=2,
            total_steps=100,
            checkpoint=CheckpointPlan("watch", directory=directory),
        )
        place = SeatPlace(JOB, self.saves.root, slot, 0, "t", "127.0.0.1", str(base))
        self.watching = Watching(place, self.saves.store, plan, str(self.work))

    def attempt(self, attempt: int = 0, checkpoint: str | None = None) -> AttemptWatch:
        members = tuple(Member(slot, 0, attempt, "127.0.0.1", 1, ranks=1) for slot in (0, 1))
        step = int(checkpoint.split("-")[0]) if checkpoint else 0
        return self.watching.of(World(attempt, members, checkpoint, step))


def test_all_wait_for_the_first_task(tmp_path: Path) -> None:
    first, second = Task(tmp_path), Task(tmp_path, slot=1)
    first.saves.seal(0)
    assert not second.attempt().is_restored()
    until(first.attempt().is_restored)
    assert second.attempt().is_restored()


def test_what_ranks_leave_is_committed_before_their_end(tmp_path: Path) -> None:
    task = Task(tmp_path)
    task.saves.seal(0)
    watch = task.attempt()
    until(watch.is_restored)
    watch.begin()
    out = task.work / "out"
    out.mkdir()
    (out / "epoch-40.pt").write_bytes(saved(4))
    watch.finish(Writers(are_alive=False))
    until(lambda: watch.is_done)
    head = task.saves.head()
    assert head is not None
    assert head.checkpoint == "0000000040-0"
    watch.see_commits()
    assert watch.progress([0], watch.active_ns + 5).step == 40
    # The next attempt gets it back, whatever became of it.
    (out / "epoch-40.pt").write_bytes(b"")
    (out / "epoch-50.pt").write_bytes(saved(5)[:99])
    task.saves.seal(1)
    until(task.attempt(1, "0000000040-0").is_restored)
    assert os.listdir(out) == ["epoch-40.pt"]


def test_a_checkpoint_that_is_damaged(tmp_path: Path) -> None:
    task = Task(tmp_path)
    name = task.saves.committed(3)  # not even of this kind
    watch = task.attempt(1, name)
    with pytest.raises(CheckpointUnreadable, match="has no index"):
        until(watch.is_restored)


def test_progress_before_and_after_the_first_sign_of_life(tmp_path: Path) -> None:
    watch = Task(tmp_path, slot=1).attempt()
    watch.begin()
    began = watch.began_ns
    assert watch.progress([0, 0], began + 10).first_ns == 0
    report = watch.progress([0, began + 20], began + 50)
    assert (report.first_ns, report.train_ns, report.at_ns) == (began + 20, 30, 0)
    assert watch.still_s([began + 20], began + 20 + 3 * 10**9) == 3.0


def test_a_folder_that_a_link_leads_out_of_the_job(tmp_path: Path) -> None:
    Task(tmp_path)
    source = Path(Saves(tmp_path).root, Keys(JOB).base, "source", "unpacked")
    (source / "away").symlink_to(tmp_path)
    with pytest.raises(InputError, match="leads out of the job's own folder"):
        Task(tmp_path, directory="away/out")


def test_a_link_in_the_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    """Whatever a script does to its folder: files elsewhere are neither committed nor moved."""
    task = Task(tmp_path)
    task.saves.seal(0)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "half.ckpt").write_bytes(b"torn")
    (precious / "step-9.pt").write_bytes(saved(9))
    watch = task.attempt()
    until(watch.is_restored)
    (task.work / "out").symlink_to(precious)
    watch.begin()
    watch.finish(Writers(are_alive=False, ended_well=True))
    until(lambda: watch.is_done)
    head = task.saves.head()
    assert head is not None
    assert head.checkpoint is None
    task.saves.seal(1)
    with pytest.raises(InputError, match="leads out of the job's own folder"):
        until(task.attempt(1).is_restored)
    assert {path.name for path in precious.iterdir()} == {"half.ckpt", "step-9.pt"}


def test_what_no_commit_holds_is_set_aside_and_not_lost(tmp_path: Path) -> None:
    task = Task(tmp_path)
    task.saves.seal(0)
    until(task.attempt().is_restored)
    out = task.work / "out"
    out.mkdir()
    (out / "step-5.pt").write_bytes(saved(5))
    for attempt in range(1, 6):
        task.saves.seal(attempt)
        (out / f"emb-{attempt}.pt").write_bytes(b"")
        until(task.attempt(attempt).is_restored)
        assert list(out.iterdir()) == []
        aside = task.work.parent / ".aside"
        assert (aside / str(attempt) / f"emb-{attempt}.pt").exists()
        assert len(list(aside.iterdir())) <= 3


class Held(FilesObjects):
    """A disk that stands still once some blobs of a checkpoint were written, or read."""

    def __init__(self, root: str, *, writes: int = 10**6, reads: int = 10**6) -> None:
        super().__init__(root, sync=lambda fd: None)
        self.writes, self.reads = threading.Semaphore(writes), threading.Semaphore(reads)

    def put_loose(self, key, chunks):  # type: ignore[no-untyped-def]
        self.writes.acquire()
        return super().put_loose(key, chunks)

    def get_blob(self, key):  # type: ignore[no-untyped-def]
        if "/files/0" in key:
            self.reads.acquire()
        return super().get_blob(key)

    def go_on(self) -> None:
        self.writes.release(10**6)
        self.reads.release(10**6)


def test_how_far_it_is_is_told(tmp_path: Path) -> None:
    task = Task(tmp_path)
    task.saves.seal(0)
    disk = Held(task.saves.root, writes=8)
    task.watching.store = Store(disk, "held")
    watch = task.attempt()
    until(watch.is_restored)
    watch.begin()
    assert watch.waits() == ""
    folder = task.work / "out" / "step-40"
    folder.mkdir(parents=True)
    data = saved(1)
    for number in range(1200):
        (folder / f"w{number}.pt").write_bytes(data)
    watch.finish(Writers(are_alive=False, ended_well=True))
    until(lambda: watch.waits() == "saving the last checkpoint: 8 of 1,200 files")
    assert not watch.is_done
    disk.go_on()
    until(lambda: watch.is_done)
    assert watch.waits() == ""
    head = task.saves.head()
    assert head is not None
    assert head.checkpoint == "0000000040-0"

    task.saves.seal(1)
    for path in folder.iterdir():
        path.unlink()
    slow = Held(task.saves.root, reads=3)
    task.watching.store = Store(slow, "slow")
    later = task.attempt(1, "0000000040-0")
    assert not later.is_restored()
    until(lambda: later.waits() == "putting checkpoint.dir back: 3 of 1,200 files")
    slow.go_on()
    until(later.is_restored)
    assert later.waits() == ""
    assert len(list(folder.iterdir())) == 1200
