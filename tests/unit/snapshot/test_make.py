"""What is shipped, what is refused, and that it is always the same bytes."""

from __future__ import annotations

import io
import os
import shutil
import socket
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from phalanx.errors import InputError, StoreError
from phalanx.snapshot.make import Snapshot, make_snapshot
from phalanx.store.files import FilesObjects


@pytest.fixture
def store(tmp_path: Path) -> FilesObjects:
    return FilesObjects.open(tmp_path / "root", make=True)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "pkg").mkdir(parents=True)
    (folder / "train.py").write_text("print('hello')\n")
    (folder / "pkg" / "a.py").write_text("A = 1\n")
    return folder


def held(store: FilesObjects, snapshot: Snapshot) -> dict[str, tarfile.TarInfo]:
    data = store.get_blob(f"snapshots/{snapshot.digest}")
    assert data is not None
    with tarfile.open(fileobj=io.BytesIO(bytes(data))) as tar:
        return {member.name: member for member in tar}


def names(store: FilesObjects, source: Path, *exclude: str) -> set[str]:
    return set(held(store, make_snapshot(store, source, exclude)))


def nothing_stored(store: FilesObjects) -> bool:
    return store.list("snapshots") == ()


def test_files_and_folders_are_stored(store: FilesObjects, source: Path) -> None:
    (source / "empty").mkdir()
    snapshot = make_snapshot(store, source)
    assert (snapshot.files, snapshot.bytes) == (2, 21)
    assert set(held(store, snapshot)) == {"train.py", "pkg", "pkg/a.py", "empty"}


def test_equal_files_give_equal_digests(store: FilesObjects, source: Path, tmp_path: Path) -> None:
    first = make_snapshot(store, source)
    copy = tmp_path / "copy"
    copy.mkdir(mode=0o700)
    (copy / "train.py").write_text("print('hello')\n")
    (copy / "train.py").chmod(0o600)
    os.utime(copy / "train.py", (1, 1))
    (copy / "pkg").mkdir()
    (copy / "pkg" / "a.py").write_text("A = 1\n")
    assert make_snapshot(store, copy) == first
    assert len(store.list("snapshots")) == 1


@pytest.mark.parametrize("change", ["content", "name", "mode"])
def test_a_change_gives_another_digest(store: FilesObjects, source: Path, change: str) -> None:
    first = make_snapshot(store, source)
    if change == "content":
        (source / "train.py").write_text("print('hullo')\n")
    elif change == "name":
        (source / "train.py").rename(source / "main.py")
    else:
        (source / "train.py").chmod(0o755)
    assert make_snapshot(store, source).digest != first.digest


def test_heads_carry_nothing_of_the_user(store: FilesObjects, source: Path) -> None:
    for member in held(store, make_snapshot(store, source)).values():
        assert (member.mtime, member.uid, member.gid) == (0, 0, 0)
        assert (member.uname, member.gname) == ("", "")
        assert member.mode in (0o644, 0o755)


def test_ignore_rules(store: FilesObjects, source: Path) -> None:
    for name in (".venv/x", ".git/config", "a.pyc", "out/log", "data/big", "own/x", "model.pt"):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).touch()
    (source / "my-env").mkdir()
    (source / "my-env" / "pyvenv.cfg").touch()
    (source / ".gitignore").write_text("out/\ndata\n")
    (source / ".phalanxignore").write_text("own\n!data\n")
    (source / "pkg" / ".gitignore").write_text("*.py\n")
    found = names(store, source, "*.pt")
    expected = {".gitignore", ".phalanxignore", "data", "data/big", "pkg", "pkg/.gitignore"}
    assert found == expected | {"train.py"}


def test_models_are_shipped_unless_excluded(store: FilesObjects, source: Path) -> None:
    (source / "model.pt").touch()
    assert "model.pt" in names(store, source)


def test_the_root_is_never_shipped(source: Path) -> None:
    inside = FilesObjects.open(source / "runs", make=True)
    snapshot = make_snapshot(inside, source, skip=[source / "runs"])
    assert set(held(inside, snapshot)) == {"train.py", "pkg", "pkg/a.py"}


def test_too_big_names_what_is_big(store: FilesObjects, source: Path) -> None:
    for name, size in (("data/raw/a.bin", 5000), ("b.bin", 3000), ("c.bin", 2000), ("d", 100)):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(bytes(size))
    with pytest.raises(InputError) as caught:
        make_snapshot(store, source, limit_bytes=8000)
    line = caught.value.line()
    assert "9.9 KiB, more than 7.8 KiB" in line
    assert "data/raw/a.bin (4.9 KiB), b.bin (2.9 KiB), c.bin (2.0 KiB)" in line
    assert 'exclude: ["/data/raw/a.bin", "/b.bin", "/c.bin"]' in line
    assert nothing_stored(store)


def test_secrets_are_refused_by_place_and_never_printed(store: FilesObjects, source: Path) -> None:
    secret = "AKIA" + "Q7" * 8
    (source / "pkg" / "aws.py").write_text(f"\nKEY = '{secret}'\n")
    (source / "own.py").write_text("a = 1\nb = 'correct horse'\n")
    with pytest.raises(InputError) as caught:
        make_snapshot(store, source, secret_in=lambda data: "MINE" if b"correct" in data else "")
    line = caught.value.line()
    assert "own.py:2 looks like the value of MINE" in line
    assert "pkg/aws.py:2 looks like an AWS access key" in line
    assert 'exclude: ["/own.py", "/pkg/aws.py"]' in line
    assert "secrets:" in line
    assert secret not in line
    assert "correct" not in line
    assert nothing_stored(store)
    assert names(store, source, "/own.py", "/pkg/aws.py") == {"train.py", "pkg", "pkg/a.py"}


def test_files_that_are_known_for_secrets_are_left_out_and_told(
    store: FilesObjects, source: Path
) -> None:
    for path in (".env", ".aws/credentials", "pkg/id_rsa", "home/.cache/huggingface/token"):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text("PASSWORD=hunter2\n")
    (source / "private.pem").write_text("-----BEGIN PRIVATE " + "KEY-----\n")
    (source / "public.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    snapshot = make_snapshot(store, source)
    files = {name for name, member in held(store, snapshot).items() if member.isreg()}
    assert files == {"train.py", "pkg/a.py", "public.pem"}
    assert snapshot.files == 3
    assert [(one.path, one.what) for one in snapshot.left_out] == [
        (".aws/credentials", "a credentials file"),
        (".env", "an environment file"),
        ("home/.cache/huggingface/token", "a Hugging Face token"),
        ("pkg/id_rsa", "a private key"),
        ("private.pem", "a private key"),
    ]


def test_what_is_asked_for_by_name_is_shipped(store: FilesObjects, source: Path) -> None:
    (source / ".aws").mkdir()
    for path in (".env", ".aws/config", "pkg/.env"):
        (source / path).write_text("PASSWORD=hunter2\nkey = AKIA" + "Q7" * 8)
    (source / ".gitignore").write_text("!.env\n")
    assert {one.path for one in make_snapshot(store, source).left_out} == {
        ".aws/config",
        ".env",
        "pkg/.env",
    }
    (source / ".phalanxignore").write_text("!/.env\n")
    snapshot = make_snapshot(store, source, ["!.aws"])
    assert {".env", ".aws/config"} <= set(held(store, snapshot))
    assert [one.path for one in snapshot.left_out] == ["pkg/.env"]


def test_links_inside_are_kept_and_made_relative(store: FilesObjects, source: Path) -> None:
    (source / "near").symlink_to("pkg/a.py")
    (source / "pkg" / "up").symlink_to("../train.py")
    (source / "absolute").symlink_to(source / "pkg")
    (source / "around").symlink_to("../source/train.py")
    (source / "broken").symlink_to("not-here")
    found = held(store, make_snapshot(store, source))
    links = {name: member.linkname for name, member in found.items() if member.issym()}
    assert links == {
        "near": "pkg/a.py",
        "pkg/up": "../train.py",
        "absolute": "pkg",
        "around": "train.py",
        "broken": "not-here",
    }


@pytest.mark.parametrize("target", ["/etc/passwd", "../../outside", "../pkg/../../outside"])
def test_links_that_leave_are_refused(store: FilesObjects, source: Path, target: str) -> None:
    (source / "pkg" / "link").symlink_to(target)
    with pytest.raises(InputError, match="pkg/link is a link that leaves"):
        make_snapshot(store, source)
    assert "train.py" in names(store, source, "link")


def test_sockets_and_pipes_are_passed_over(store: FilesObjects, source: Path) -> None:
    os.mkfifo(source / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(source / "socket"))
        assert names(store, source) == {"train.py", "pkg", "pkg/a.py"}


@pytest.fixture
def open_to_nobody() -> Iterator[Path]:
    """A folder that another user may enter, where permissions count even for root's tests."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("what", ["file", "folder", "ignore file"])
def test_what_cannot_be_read_is_named(store: FilesObjects, open_to_nobody: Path, what: str) -> None:
    name = {"file": "secret.txt", "folder": "closed", "ignore file": ".gitignore"}[what]
    closed = open_to_nobody / name
    closed.mkdir() if what == "folder" else closed.touch()
    closed.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        with pytest.raises(InputError) as caught:
            make_snapshot(store, open_to_nobody)
    finally:
        os.seteuid(user)
    assert f"{name} cannot be read: Permission denied" in caught.value.line()


def test_a_file_that_changes_meanwhile_gives_a_true_digest(
    store: FilesObjects, source: Path
) -> None:
    from phalanx.snapshot.unpack import unpack

    stop = threading.Event()
    (source / "log").write_bytes(b"")

    def write() -> None:
        with (source / "log").open("ab") as file:
            while not stop.is_set():
                file.write(b"x" * 4096)
                file.flush()
                if file.tell() > 1 << 24:
                    file.truncate(0)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        digests = {make_snapshot(store, source).digest for _ in range(5)}
    finally:
        stop.set()
        writer.join()
    for digest in digests:
        assert Path(unpack(store, digest, source.parent / "into"), "train.py").is_file()


def test_no_such_source(store: FilesObjects, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        make_snapshot(store, tmp_path / "nowhere")


def test_a_damaged_stored_snapshot_is_not_taken_for_ours(
    store: FilesObjects, source: Path, tmp_path: Path
) -> None:
    digest = make_snapshot(store, source).digest
    path = tmp_path / "root" / "snapshots" / digest
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StoreError, match="damaged"):
        make_snapshot(store, source)


def test_names_of_any_bytes(store: FilesObjects, source: Path) -> None:
    from phalanx.snapshot.unpack import unpack

    raw = [b"\xff\xfe", "naïve ☃".encode(), b"new\nline", b"x" * 200, b"*?[a]"]
    for name in raw:
        with open(os.path.join(os.fsencode(source), name), "wb") as file:
            file.write(name)
    snapshot = make_snapshot(store, source)
    folder = os.fsencode(unpack(store, snapshot.digest, source.parent / "into"))
    for name in raw:
        with open(os.path.join(folder, name), "rb") as file:
            assert file.read() == name
