"""News of folders, and the tick where the kernel tells none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from phalanx.store.base import Watch
from phalanx.store.files import FilesObjects
from phalanx.store.folders import Folders
from phalanx.store.watch import FolderWatch, wait

LONG_S = 30.0


@pytest.fixture
def objects(tmp_path: Path) -> FilesObjects:
    return FilesObjects.open(tmp_path / "root", make=True)


@pytest.fixture
def watch(objects: FilesObjects) -> Iterator[Watch]:
    watch = objects.watch()
    yield watch
    watch.close()


def is_told(watch: Watch) -> bool:
    """inotify queues before the system call that changed something returns: no wait needed."""
    return watch.fileno() in wait(watch, (), 0)


def test_it_is_a_watch(watch: Watch) -> None:
    assert isinstance(watch, Watch)
    assert isinstance(watch, FolderWatch)
    assert not watch.is_ticking


def test_every_kind_of_write_is_news(objects: FilesObjects, watch: Watch) -> None:
    watch.cover(["jobs/a/ends", "jobs/a/record", "jobs/a/beats"])
    assert not is_told(watch)
    objects.put_new("jobs/a/ends/0.0", b"x")
    assert is_told(watch)
    assert not is_told(watch)
    version = objects.replace("jobs/a/record", b"x", None)
    assert is_told(watch)
    objects.replace("jobs/a/record", b"y", version)
    assert is_told(watch)
    objects.beat("jobs/a/beats/0.0", b"x")
    assert is_told(watch)
    objects.put_blob("jobs/a/ends/1.0", [b"x"])
    assert is_told(watch)
    objects.delete("jobs/a/ends/1.0")


def test_exactly_what_is_covered_is_told(objects: FilesObjects, watch: Watch) -> None:
    watch.cover(["jobs/a/one", "jobs/a/two"])
    watch.cover(["jobs/a/two", "jobs/a/three"])
    watch.drain()
    objects.put_new("jobs/a/one/x", b"")
    objects.put_new("jobs/a/other/x", b"")
    assert not is_told(watch)
    for name in ("two", "three"):
        objects.put_new(f"jobs/a/{name}/x", b"")
        assert is_told(watch)


def test_a_folder_made_anew_is_covered_again(objects: FilesObjects, watch: Watch) -> None:
    watch.cover(["jobs/a/ends"])
    shutil.rmtree(Path(objects.root) / "jobs")
    watch.cover(["jobs/a/ends"])
    watch.drain()
    objects.put_new("jobs/a/ends/x", b"")
    assert is_told(watch)


def test_covering_makes_no_value(objects: FilesObjects, watch: Watch) -> None:
    watch.cover(["jobs/a/record"])
    assert objects.get("jobs/a/record") is None
    assert objects.replace("jobs/a/record", b"x", None).startswith("00000001")


def test_other_descriptors_wake_as_well(watch: Watch) -> None:
    read, write = os.pipe()
    try:
        assert wait(watch, (read,), 0) == frozenset()
        assert wait(None, (read,), 0) == frozenset()
        os.write(write, b"x")
        assert wait(watch, (read,), LONG_S) == {read}
        assert wait(None, (read,), None) == {read}
    finally:
        os.close(read)
        os.close(write)


def test_where_the_kernel_tells_nothing_it_ticks(objects: FilesObjects) -> None:
    watch = FolderWatch(Folders(objects.root), is_quiet=True)
    watch.cover(["jobs/a/ends"])
    for _ in range(3):
        assert wait(watch, (), LONG_S) == {watch.fileno()}
    watch.close()
    watch.close()


def test_at_the_limit_of_watches_it_ticks_under_the_same_number(objects: FilesObjects) -> None:
    code = """if True:
        import sys
        from pathlib import Path
        from phalanx.store.folders import Folders
        from phalanx.store.watch import FolderWatch, wait
        Path("/proc/sys/user/max_inotify_watches").write_text("1")
        watch = FolderWatch(Folders(sys.argv[1]))
        number = watch.fileno()
        watch.cover(["jobs/a/one"])
        assert not watch.is_ticking
        watch.cover(["jobs/a/one", "jobs/a/two", "jobs/a/three"])
        assert watch.is_ticking and watch.fileno() == number
        for _ in range(2):
            assert wait(watch, (), 30.0) == {number}
        watch.close()
    """
    name_space = ("unshare", "--user", "--map-root-user")
    if shutil.which("unshare") is None or subprocess.run((*name_space, "true")).returncode:
        pytest.skip("user name spaces are not allowed here")
    words = (*name_space, sys.executable, "-c", code, objects.root)
    answer = subprocess.run(words, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
