"""Unpacking: exactly what was shipped, or nothing at all."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from phalanx.errors import SourceDamaged
from phalanx.snapshot.make import make_snapshot
from phalanx.snapshot.unpack import unpack
from phalanx.store.files import FilesObjects


@pytest.fixture
def store(tmp_path: Path) -> FilesObjects:
    return FilesObjects.open(tmp_path / "root", make=True)


def ship(store: FilesObjects, *members: tarfile.TarInfo) -> str:
    """Store a tar of any members, as somebody with bad intentions would."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for member in members:
            tar.addfile(member, io.BytesIO(bytes(member.size)))
    data = buffer.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    store.put_blob(f"snapshots/{digest}", [data])
    return digest


def member(
    name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0
) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname, found.size = kind, link, size
    return found


def left(into: Path) -> list[str]:
    return sorted(os.listdir(into)) if into.exists() else []


def test_what_was_shipped_comes_back(store: FilesObjects, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "a" / "b").mkdir(parents=True)
    (source / "empty").mkdir()
    (source / "a" / "b" / "run.sh").write_text("exit 0\n")
    (source / "a" / "b" / "run.sh").chmod(0o755)
    (source / "a" / "link").symlink_to("b/run.sh")
    digest = make_snapshot(store, source).digest
    folder = Path(unpack(store, digest, tmp_path / "into"))
    assert folder == tmp_path / "into" / digest
    assert (folder / "a" / "link").read_text() == "exit 0\n"
    assert os.access(folder / "a" / "b" / "run.sh", os.X_OK)
    assert (folder / "empty").is_dir()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_edits_of_the_source_change_nothing(store: FilesObjects, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    script = tmp_path / "source" / "train.py"
    script.write_text("first")
    digest = make_snapshot(store, tmp_path / "source").digest
    script.write_text("second")
    folder = Path(unpack(store, digest, tmp_path / "into"))
    assert (folder / "train.py").read_text() == "first"


def test_the_second_unpacking_takes_the_first_ones_folder(
    store: FilesObjects, tmp_path: Path
) -> None:
    digest = ship(store, member("a"))
    folder = Path(unpack(store, digest, tmp_path / "into"))
    (folder / "out").touch()
    assert Path(unpack(store, digest, tmp_path / "into")) == folder
    assert (folder / "out").exists()


def test_many_at_once_make_one_folder(store: FilesObjects, tmp_path: Path) -> None:
    digest = ship(store, *(member(f"f{n}", size=100) for n in range(50)))
    with ThreadPoolExecutor(8) as pool:
        folders = set(pool.map(lambda _: unpack(store, digest, tmp_path / "into"), range(8)))
    assert len(folders) == 1
    assert len(os.listdir(folders.pop())) == 50
    assert digest in left(tmp_path / "into")


def test_drafts_of_the_killed_are_removed(store: FilesObjects, tmp_path: Path) -> None:
    digest = ship(store, member("a"))
    stale = tmp_path / "into" / f".{digest[:16]}.stale"
    stale.mkdir(parents=True)
    (stale / "half").touch()
    unpack(store, digest, tmp_path / "into")
    assert left(tmp_path / "into") == [digest]


UNSAFE: dict[str, Callable[[], list[tarfile.TarInfo]]] = {
    "absolute": lambda: [member("/tmp/evil")],
    "dots": lambda: [member("a/../../evil")],
    "link out": lambda: [member("a", tarfile.SYMTYPE, "../..")],
    "absolute link": lambda: [member("a", tarfile.SYMTYPE, "/etc")],
    "link out through another": lambda: [
        member("d/e", tarfile.DIRTYPE),
        member("d/e/up", tarfile.SYMTYPE, "../.."),
        member("out", tarfile.SYMTYPE, "d/e/up/../x"),
    ],
    "write through a link": lambda: [
        member("a", tarfile.SYMTYPE, ".."),
        member("a/evil"),
    ],
    "link through a link": lambda: [
        member("a", tarfile.SYMTYPE, ".."),
        member("a/evil", tarfile.SYMTYPE, "x"),
    ],
    "file where a folder is": lambda: [member("a/b"), member("a")],
    "hard link": lambda: [member("a", tarfile.LNKTYPE, "/etc/passwd")],
    "device": lambda: [member("a", tarfile.CHRTYPE)],
    "pipe": lambda: [member("a", tarfile.FIFOTYPE)],
}


@pytest.mark.parametrize("kind", sorted(UNSAFE))
def test_unsafe_archives_leave_nothing(store: FilesObjects, tmp_path: Path, kind: str) -> None:
    digest = ship(store, *UNSAFE[kind]())
    with pytest.raises(SourceDamaged):
        unpack(store, digest, tmp_path / "into")
    assert left(tmp_path / "into") == []
    assert not (tmp_path / "evil").exists()
    assert not os.path.lexists(tmp_path / "into" / "evil")


def test_a_file_named_twice_is_refused(store: FilesObjects, tmp_path: Path) -> None:
    digest = ship(store, member("a", size=1), member("a", size=2))
    with pytest.raises(SourceDamaged):
        unpack(store, digest, tmp_path / "into")
    assert left(tmp_path / "into") == []


def test_a_wrong_digest_is_found_before_anything_is_written(
    store: FilesObjects, tmp_path: Path
) -> None:
    digest = ship(store, member("a", size=1000))
    path = tmp_path / "root" / "snapshots" / digest
    path.chmod(0o600)
    data = bytearray(path.read_bytes())
    data[700] ^= 1
    path.write_bytes(data)
    with pytest.raises(SourceDamaged, match="digest is wrong"):
        unpack(store, digest, tmp_path / "into")
    assert left(tmp_path / "into") == []


def test_a_missing_snapshot_and_a_bad_digest_are_said(store: FilesObjects, tmp_path: Path) -> None:
    with pytest.raises(SourceDamaged, match="not in the root"):
        unpack(store, "0" * 64, tmp_path)
    with pytest.raises(SourceDamaged, match="no snapshot's digest"):
        unpack(store, "../evil", tmp_path)


def test_bytes_that_are_no_archive(store: FilesObjects, tmp_path: Path) -> None:
    data = b"not a tar" * 200
    digest = hashlib.sha256(data).hexdigest()
    store.put_blob(f"snapshots/{digest}", [data])
    with pytest.raises(SourceDamaged, match="no archive"):
        unpack(store, digest, tmp_path / "into")


def test_what_stands_there_instead_of_our_folder_is_not_run(
    store: FilesObjects, tmp_path: Path
) -> None:
    digest = ship(store, member("a"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "into").mkdir()
    (tmp_path / "into" / digest).symlink_to(elsewhere)
    with pytest.raises(SourceDamaged, match="a link"):
        unpack(store, digest, tmp_path / "into")
    assert os.listdir(elsewhere) == []


def test_everything_unpacked_is_private_whatever_the_umask(
    store: FilesObjects, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    (source / "a" / "b").mkdir(parents=True)
    (source / "a" / "b" / "run.sh").write_text("exit 0\n")
    (source / "a" / "b" / "run.sh").chmod(0o777)
    digest = make_snapshot(store, source).digest
    before = os.umask(0)
    try:
        folder = Path(unpack(store, digest, tmp_path / "into"))
    finally:
        os.umask(before)
    found = [tmp_path / "into", folder, *folder.rglob("*")]
    assert len(found) == 5
    assert [path for path in found if path.stat().st_mode & 0o077] == []
