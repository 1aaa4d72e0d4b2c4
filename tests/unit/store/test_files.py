"""A folder as a root: durability, remains, refusals."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from phalanx.checkpoint.folder.together import together
from phalanx.errors import StoreConflict, StoreUnavailable, StoreUnfit
from phalanx.store.drafts import STALE_NS
from phalanx.store.files import FilesObjects
from phalanx.store.fitness import check
from phalanx.store.refusals import file_system_of, refusing
from tests.support.mounts import remount, tiny


@pytest.fixture
def root(tmp_path: Path) -> Path:
    FilesObjects.open(tmp_path / "root", make=True)
    return tmp_path / "root"


def test_layout_is_the_documented_one(root: Path) -> None:
    objects = FilesObjects(root)
    objects.put_new("jobs/a-1/world", b"w")
    first = objects.replace("jobs/a-1/record", b"1", None)
    objects.replace("jobs/a-1/record", b"2", first)
    assert (root / "jobs/a-1/world").read_bytes() == b"w"
    assert sorted(os.listdir(root / "jobs/a-1/record")) == ["00000001", "00000002"]
    assert (root / "jobs/a-1/record/00000001").read_bytes() == b"1"
    assert [name for name in os.listdir(root / "tmp") if not name.startswith("fit-")] == []


def test_nobody_else_may_read(root: Path) -> None:
    objects = FilesObjects(root)
    objects.put_new("jobs/a-1/world", b"w")
    objects.replace("jobs/a-1/record", b"1", None)
    objects.beat("jobs/a-1/controller", b"b")
    objects.put_blob("jobs/a-1/blob", [b"x"])
    for place, folders, files in os.walk(root):
        for name in folders:
            assert stat.S_IMODE(os.stat(f"{place}/{name}").st_mode) == 0o700
        for name in files:
            assert stat.S_IMODE(os.stat(f"{place}/{name}").st_mode) == 0o600


class Recorded:
    """Real fsync that notes what was made durable, and how many names it had then."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []
        self.broken: Callable[[os.stat_result], bool] = lambda _: False

    def __call__(self, fd: int) -> None:
        status = os.fstat(fd)
        if self.broken(status):
            raise OSError(errno.EIO, "Input/output error")
        self.seen.append((status.st_ino, status.st_nlink))
        os.fsync(fd)


@pytest.mark.parametrize("kind", ["put_new", "replace", "put_blob"])
def test_durable_before_announced(root: Path, kind: str) -> None:
    sync = Recorded()
    objects = FilesObjects(root, sync=sync)
    key = "jobs/a-1/attempts/0/it"
    if kind == "replace":
        objects.replace(key, b"x", None)
    elif kind == "put_new":
        objects.put_new(key, b"x")
    else:
        objects.put_blob(key, [b"x"])
    path = root / key
    if kind == "replace":
        path = path / "00000001"
    # The file first, while only its draft's name led to it; then every folder above it.
    assert sync.seen[0] == (path.stat().st_ino, 1)
    folders = [folder.stat().st_ino for folder in path.parents if folder.is_relative_to(root)]
    assert [ino for ino, _ in sync.seen[1:]] == folders


def test_many_are_made_durable_one_by_one_and_their_names_together(root: Path) -> None:
    sync = Recorded()
    objects = FilesObjects(root, sync=sync)
    keys = [f"jobs/a-1/files/{number}" for number in range(20)]
    written = [objects.put_loose(key, [key.encode()]) for key in keys]
    assert objects.link_loose(keys[0], "jobs/a-1/files/again")
    assert not objects.link_loose("jobs/a-1/files/none", "jobs/a-1/files/more")
    # Each file itself, while only its draft's name led to it; no folder yet.
    assert sync.seen == [((root / key).stat().st_ino, 1) for key in keys]
    assert [one.bytes for one in written] == [len(key) for key in keys]
    with pytest.raises(StoreConflict):
        objects.put_loose(keys[0], [b"again"])
    sync.seen.clear()
    objects.settle("jobs/a-1/files")
    folders = [folder for folder in (root / keys[0]).parents if folder.is_relative_to(root)]
    assert [ino for ino, _ in sync.seen] == [folder.stat().st_ino for folder in folders]
    objects.settle("jobs/a-1/nothing")


def test_folders_are_made_durable_by_everybody_once(root: Path) -> None:
    FilesObjects(root).put_new("jobs/a-1/one", b"x")
    sync = Recorded()
    objects = FilesObjects(root, sync=sync)
    objects.put_new("jobs/a-1/two", b"x")
    # The maker of the folders may have been killed before it made them durable.
    assert len(sync.seen) == 4
    objects.put_new("jobs/a-1/three", b"x")
    assert len(sync.seen) == 6


def test_a_disk_that_cannot_make_durable_is_told(root: Path) -> None:
    sync = Recorded()
    objects = FilesObjects(root, sync=sync)
    sync.broken = lambda status: stat.S_ISREG(status.st_mode)
    with pytest.raises(StoreUnavailable, match="jobs/a-1/world: the disk reports"):
        objects.put_new("jobs/a-1/world", b"x")
    assert objects.get("jobs/a-1/world") is None
    sync.broken = lambda status: stat.S_ISDIR(status.st_mode)
    with pytest.raises(StoreUnavailable, match="the disk reports"):
        objects.put_new("jobs/a-1/world", b"x")


class Meanwhile:
    """Real fsync, before which something else happens once."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._acts = [act]

    def __call__(self, fd: int) -> None:
        while self._acts:
            self._acts.pop()()
        os.fsync(fd)


@pytest.mark.parametrize("how", ["deleted", "moved"])
@pytest.mark.parametrize("kind", ["replace", "put_new"])
def test_a_write_into_a_folder_that_goes_away_is_not_won(
    root: Path, tmp_path: Path, how: str, kind: str
) -> None:
    held = FilesObjects(root).replace("jobs/a-1/record", b"1", None)

    def go_away() -> None:
        if how == "deleted":
            FilesObjects(root).delete("jobs/a-1")
        else:
            (root / "jobs/a-1").rename(tmp_path / "elsewhere")

    zombie = FilesObjects(root, sync=Meanwhile(go_away))
    assert zombie.list("jobs/a-1") == ("record",)
    assert zombie.list("jobs/a-1/record") == ()
    writes: dict[str, Callable[[], object]] = {
        "replace": lambda: zombie.replace("jobs/a-1/record", b"2", held),
        "put_new": lambda: zombie.put_new("jobs/a-1/world", b"2"),
    }
    with pytest.raises(StoreConflict):
        writes[kind]()
    assert FilesObjects(root).list("jobs") == ()


def test_a_link_that_the_server_granted_twice_is_ours(root: Path) -> None:
    """A network file system that repeats a request whose answer it lost says "exists"."""

    def grant() -> None:
        (draft,) = (name for name in os.listdir(root / "tmp") if not name.startswith("fit-"))
        os.link(root / "tmp" / draft, root / "world")

    FilesObjects(root, sync=Meanwhile(grant)).put_new("world", b"mine")
    assert (root / "world").read_bytes() == b"mine"
    with pytest.raises(StoreConflict):
        FilesObjects(root).put_new("world", b"other")


def test_a_removal_is_durable_before_anything_is_lost(root: Path) -> None:
    FilesObjects(root).put_new("jobs/a-1/world", b"x")
    seen: list[tuple[bool, int]] = []

    def look() -> None:
        seen.append(((root / "jobs/a-1").exists(), len(list((root / "tmp").rglob("world")))))

    FilesObjects(root, sync=Meanwhile(look)).delete("jobs/a-1")
    assert seen == [(False, 1)]
    assert list((root / "tmp").rglob("world")) == []


def test_steady_reads_find_what_others_wrote(root: Path) -> None:
    reader, other = FilesObjects(root), FilesObjects(root)
    version = None
    for n in range(5):
        for _ in range(n):  # several versions between two reads
            version = other.replace("jobs/a-1/record", b"%d" % n, version)
        found = reader.get("jobs/a-1/record")
        assert found == other.get("jobs/a-1/record")
        assert found is None or found.data == b"%d" % n


def test_a_version_that_never_was_makes_no_gap(root: Path) -> None:
    objects = FilesObjects(root)
    version = objects.replace("jobs/a-1/record", b"1", None)
    for wrong in ("00000007", f"00000002{version[8:]}", "00000001-0-0", "x", ""):
        with pytest.raises(StoreConflict):
            objects.replace("jobs/a-1/record", b"2", wrong)
        assert objects.successor("jobs/a-1/record", wrong) is None
    assert os.listdir(root / "jobs/a-1/record") == ["00000001"]
    with pytest.raises(StoreConflict):
        objects.replace("jobs/b-1/record", b"2", version)
    assert not (root / "jobs/b-1").exists()


def test_successors_are_kept(root: Path) -> None:
    objects = FilesObjects(root)
    one = objects.replace("jobs/a-1/record", b"1", None)
    two = objects.replace("jobs/a-1/record", b"2", one)
    objects.replace("jobs/a-1/record", b"3", two)
    first, second = (
        objects.successor("jobs/a-1/record", None),
        objects.successor("jobs/a-1/record", one),
    )
    assert first is not None
    assert second is not None
    assert (first.data, first.version, second.data, second.version) == (b"1", one, b"2", two)


def test_more_folders_than_are_kept_open(root: Path) -> None:
    objects = FilesObjects(root)
    before = len(os.listdir("/proc/self/fd"))
    for n in range(200):
        objects.replace(f"jobs/a-{n + 1}/record", b"%d" % n, None)
    for n in range(200):
        found = objects.get(f"jobs/a-{n + 1}/record")
        assert found is not None
        assert found.data == b"%d" % n
    assert len(os.listdir("/proc/self/fd")) - before < 150


# --- remains ----------------------------------------------------------------------------------


def test_old_drafts_are_cleaned_and_young_ones_kept(root: Path) -> None:
    objects = FilesObjects(root)
    long_ago = (objects.now_ns() - STALE_NS - 1_000_000_000,) * 2
    for name in ("old", "young"):
        (root / "tmp" / name).write_bytes(b"x")
        (root / "tmp" / f"{name}-folder").mkdir()
        (root / "tmp" / f"{name}-folder" / "shard").write_bytes(b"x")
    for name in ("old", "old-folder"):
        os.utime(root / "tmp" / name, ns=long_ago)
    FilesObjects.open(root, make=True)
    left = {name for name in os.listdir(root / "tmp") if not name.startswith("fit-")}
    assert left == {"young", "young-folder"}


def test_delete_takes_whole_folders_and_follows_no_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_bytes(b"keep")
    objects = FilesObjects(root)
    for n in range(5):
        objects.put_new(f"jobs/a-1/checkpoints/c/shards/{n}", b"x")
    (root / "jobs/a-1/checkpoints/c/link").symlink_to(tmp_path / "outside")
    objects.delete("jobs/a-1/checkpoints/c")
    objects.delete("jobs/a-1/checkpoints/c")
    assert objects.list("jobs/a-1/checkpoints") == ()
    assert (tmp_path / "outside" / "file").read_bytes() == b"keep"
    objects.put_new("jobs/a-1/checkpoints/c/shards/0", b"again")
    assert objects.list("jobs/a-1/checkpoints/c/shards") == ("0",)


def test_foreign_files_are_left_out_of_lists(root: Path) -> None:
    objects = FilesObjects(root)
    objects.put_new("jobs/a-1/members/0.0", b"x")
    for name in (".nfs0001", "with space", "00000001", "#backup#"):
        (root / "jobs/a-1/members" / name).write_bytes(b"x")
    assert objects.list("jobs/a-1/members") == ("0.0",)


# --- refusals ---------------------------------------------------------------------------------


def every_use(objects: FilesObjects) -> list[Callable[[], object]]:
    return [
        lambda: objects.get("jobs/a-1/record"),
        lambda: objects.get("jobs/a-1/world"),
        lambda: objects.list("jobs/a-1/members"),
        lambda: objects.put_new("jobs/a-1/new", b"x"),
        lambda: objects.replace("jobs/a-1/other", b"x", None),
        lambda: objects.beat("jobs/a-1/controller", b"x"),
        lambda: objects.pulse("jobs/a-1/controller"),
        lambda: objects.put_blob("jobs/a-1/blob", [b"x"]),
        lambda: objects.get_blob("jobs/a-1/world"),
        lambda: objects.delete("jobs/a-1/world"),
    ]


def test_a_deleted_root_is_told_by_every_use(root: Path) -> None:
    objects = FilesObjects(root)
    objects.put_new("jobs/a-1/world", b"x")
    objects.replace("jobs/a-1/record", b"x", None)
    for use in every_use(objects):
        use()
    shutil.rmtree(root)
    for use in every_use(objects):
        with pytest.raises(StoreUnavailable) as caught:
            use()
        assert caught.value.line().startswith(f"{root}: the root does not exist (it was deleted")
    assert not root.exists()


def test_a_root_deleted_in_the_middle_is_told(root: Path) -> None:
    objects = FilesObjects(root, sync=Meanwhile(lambda: shutil.rmtree(root)))
    with pytest.raises(StoreUnavailable, match="the root does not exist"):
        objects.put_new("world", b"x")
    with pytest.raises(StoreUnavailable, match="the root does not exist"), refusing("a", str(root)):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")


def test_a_root_moved_away_is_not_written_to(root: Path, tmp_path: Path) -> None:
    objects = FilesObjects(root)
    version = objects.replace("jobs/a-1/record", b"1", None)
    root.rename(tmp_path / "elsewhere")
    FilesObjects.open(root, make=True)
    assert objects.get("jobs/a-1/record") is None
    with pytest.raises(StoreConflict):
        objects.replace("jobs/a-1/record", b"2", version)
    objects.put_new("jobs/a-1/world", b"x")
    assert (root / "jobs/a-1/world").exists()
    assert os.listdir(tmp_path / "elsewhere/jobs/a-1") == ["record"]


def test_a_missing_root_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="the root does not exist"):
        FilesObjects.open(tmp_path / "a/b")
    assert not (tmp_path / "a").exists()
    FilesObjects.open(tmp_path / "a/b", make=True)
    assert stat.S_IMODE((tmp_path / "a/b").stat().st_mode) == 0o700
    (tmp_path / "file").write_bytes(b"")
    for make in (True, False):
        with pytest.raises(StoreUnavailable, match=r"file: a file stands where"):
            FilesObjects.open(tmp_path / "file", make=make)


def test_a_file_in_the_way_is_told(root: Path) -> None:
    objects = FilesObjects(root)
    objects.put_new("jobs/a-1", b"x")
    assert objects.get("jobs/a-1/record") is None
    with pytest.raises(StoreUnavailable, match="cannot be made a folder"):
        objects.put_new("jobs/a-1/world", b"x")
    with pytest.raises(StoreUnavailable, match="cannot be made a folder"):
        objects.replace("jobs/a-1", b"x", None)


@pytest.mark.parametrize("where", ["jobs", "jobs/a-1", "jobs/a-1/world"])
def test_links_below_the_root_are_not_followed(root: Path, tmp_path: Path, where: str) -> None:
    outside = tmp_path / "outside"
    objects = FilesObjects(root)
    objects.put_new("jobs/a-1/world", b"x")
    (root / where).rename(outside)
    (root / where).symlink_to(outside)
    for reader in (objects, FilesObjects(root)):
        with pytest.raises(StoreUnavailable, match=f"{where}.*symbolic link"):
            reader.get("jobs/a-1/world")
        if where != "jobs/a-1/world":
            with pytest.raises(StoreUnavailable, match="symbolic link"):
                reader.put_new("jobs/a-1/new", b"x")


def test_a_pipe_below_the_root_blocks_nobody(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(StoreUnavailable, match="neither a file nor a folder"):
        FilesObjects(root).get("pipe")


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    with tiny(tmp_path / "disk", "size=256k") as disk:
        objects = FilesObjects.open(disk / "root", make=True)
        version = objects.replace("jobs/a-1/record", b"good", None)
        with pytest.raises(StoreUnavailable, match="jobs/a-1/blob: the disk is full"):
            objects.put_blob("jobs/a-1/blob", [b"x" * 4096] * 1000)
        assert objects.get_blob("jobs/a-1/blob") is None
        for n in range(1000):
            try:
                objects.put_new(f"jobs/a-1/ends/{n}", b"x" * 4096)
            except StoreUnavailable as error:
                refused = error
                break
        assert "the disk is full" in refused.line()
        assert objects.list("jobs/a-1/ends") == tuple(sorted(map(str, range(n))))
        with pytest.raises(StoreUnavailable, match="the disk is full"):
            objects.replace("jobs/a-1/record", b"x" * 4096, version)
        found = objects.get("jobs/a-1/record")
        assert found is not None
        assert found.data == b"good"
        objects.delete("jobs/a-1/ends")
        objects.replace("jobs/a-1/record", b"better", version)


def test_a_read_only_disk_is_told(tmp_path: Path) -> None:
    with tiny(tmp_path / "disk", "size=1m") as disk:
        objects = FilesObjects.open(disk / "root", make=True)
        objects.replace("jobs/a-1/record", b"good", None)
        remount(disk, "ro")
        for reader in (objects, FilesObjects.open(disk / "root")):
            assert reader.get("jobs/a-1/record") is not None
            with pytest.raises(StoreUnavailable, match="the file system is read-only"):
                reader.put_new("jobs/a-1/world", b"x")
            with pytest.raises(StoreUnavailable, match="the file system is read-only"):
                reader.beat("jobs/a-1/controller", b"x")


def test_a_root_of_somebody_else_is_told(root: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can act as somebody else")
    FilesObjects(root).put_new("jobs/a-1/world", b"x")
    os.chmod(root.parent, 0o755)
    code = (
        "import os, sys; os.setuid(65534)\n"
        "from phalanx.errors import StoreUnavailable\n"
        "from phalanx.store.files import FilesObjects\n"
        "try: FilesObjects(sys.argv[1]).get('jobs/a-1/world')\n"
        "except StoreUnavailable as error: print(error.line())\n"
    )
    words = (sys.executable, "-c", "import phalanx.errors, phalanx.store.files\n" + code, str(root))
    answer = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "permission denied (run as the owner" in answer.stdout, answer.stderr


# --- fitness ----------------------------------------------------------------------------------


def _no_links(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


def _copies(source: str, goal: str, *, src_dir_fd: int, **_: object) -> None:
    folder = f"/proc/self/fd/{src_dir_fd}"
    shutil.copy(f"{folder}/{source}", f"{folder}/{goal}")


def _overwrites(source: str, goal: str, *, src_dir_fd: int, **_: object) -> None:
    folder = f"/proc/self/fd/{src_dir_fd}"
    if os.path.exists(f"{folder}/{goal}"):
        os.unlink(f"{folder}/{goal}")
    os.link(f"{folder}/{source}", f"{folder}/{goal}")


@pytest.mark.parametrize(
    ("link", "says"),
    [
        (_no_links, "has no hard links"),
        (_copies, "copies where a hard link"),
        (_overwrites, "lets a second writer replace"),
    ],
)
def test_unfit_file_systems_are_refused_by_name(
    root: Path, link: Callable[..., None], says: str
) -> None:
    fd = os.open(root, os.O_RDONLY)
    before = sorted(os.listdir(root))
    try:
        with pytest.raises(StoreUnfit, match=says) as caught:
            check(str(root), fd, "x", link)
    finally:
        os.close(fd)
    assert f"({file_system_of(str(root))})" in caught.value.line()
    assert sorted(os.listdir(root)) == before


def test_this_file_system_is_fit(root: Path) -> None:
    FilesObjects(root).probe()


def test_file_systems_have_names() -> None:
    assert file_system_of("/proc/self/status") == "proc"


def test_import_stays_light() -> None:
    code = "import sys, phalanx.store.files, phalanx.store.store, phalanx.store.writer\n"
    heavy = "asyncio ctypes hashlib json logging mmap pathlib shutil socket subprocess threading"
    code += f"print([name for name in {heavy.split()} if name in sys.modules])"
    # -I and -S: what site-packages import at start is not ours.
    source = str(Path(sys.modules["phalanx"].__path__[0]).parent)
    code = f"import sys; sys.path.insert(0, {source!r})\n" + code
    answer = subprocess.run(
        (sys.executable, "-I", "-S", "-c", code), capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_what_works_for_a_removed_job_makes_no_folder_of_it_anew(root: Path, how: str) -> None:
    FilesObjects(root).replace("jobs/a-1/record", b"1", None)
    agent = FilesObjects.open(root, anchor="jobs/a-1/record")
    agent.put_new("jobs/a-1/members/0.0", b"x")
    FilesObjects(root).delete("jobs/a-1")
    if how == "replaced":
        FilesObjects(root).replace("jobs/a-1/record", b"1", None)
    writes: list[Callable[[], object]] = [
        lambda: agent.put_new("jobs/a-1/ends/0.0", b"x"),
        lambda: agent.beat("jobs/a-1/beats/0.0", b"x"),
        lambda: agent.replace("jobs/a-1/checkpoints/HEAD", b"x", None),
        lambda: agent.watch().cover(["jobs/a-1/attempts/0"]),
    ]
    for write in writes:
        with pytest.raises(StoreUnavailable, match="it was removed"):
            write()
    assert FilesObjects(root).list("jobs/a-1") == (("record",) if how == "replaced" else ())


def test_a_job_that_was_never_there_is_not_begun_by_what_works_for_it(root: Path) -> None:
    controller = FilesObjects.open(root, anchor="jobs/a-1/record")
    with pytest.raises(StoreUnavailable, match="it was removed"):
        controller.beat("jobs/a-1/controller", b"x")
    assert os.listdir(root) == ["tmp"]
    FilesObjects(root).replace("jobs/a-1/record", b"1", None)
    controller.beat("jobs/a-1/controller", b"x")


def test_many_threads_make_the_same_new_folders(tmp_path: Path) -> None:
    """A folder that one thread uses stays open when another has opened it once more."""
    switch_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for number in range(60):
            FilesObjects.open(tmp_path / f"{number}", make=True)
            objects = FilesObjects(tmp_path / f"{number}", sync=lambda fd: None)
            keys = [f"a/b/c/d/{n}" for n in range(8)]
            together(lambda key, to=objects: to.put_loose(key, [b"x"]), keys)
            assert objects.list("a/b/c/d") == tuple("01234567")
    finally:
        sys.setswitchinterval(switch_s)
