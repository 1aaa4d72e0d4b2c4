"""Private whatever the umask is, and nobody else's folder is taken for ours."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from phalanx import owned


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
def test_all_that_is_made_is_private(tmp_path: Path) -> None:
    owned.make_folder(str(tmp_path / "a" / "b" / "c"))
    owned.make_own_folder(str(tmp_path / "own"))
    owned.write_private(str(tmp_path / "a" / "file"), b"x")
    os.close(owned.append_to(str(tmp_path / "a" / "log")))
    found = [*tmp_path.rglob("*")]
    assert len(found) == 6
    assert [path for path in found if path.stat().st_mode & 0o077] == []


def test_what_is_there_stays(tmp_path: Path) -> None:
    owned.make_folder(str(tmp_path / "a"))
    owned.make_folder(str(tmp_path / "a"))
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        owned.make_folder(str(tmp_path / "file"))


def test_a_link_is_not_our_folder(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "link").symlink_to("theirs")
    assert owned.problem_of(str(tmp_path / "link")) == "it is no folder, or a link"
    with pytest.raises(PermissionError):
        owned.make_own_folder(str(tmp_path / "link"))
    assert owned.problem_of(str(tmp_path / "missing")) == ""


def test_our_own_folder_is_closed_to_others(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o755)
    owned.make_own_folder(str(tmp_path / "mine"))
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_the_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 12345, 12345)
    assert owned.problem_of(str(tmp_path / "theirs")) == "it belongs to user 12345"
    with pytest.raises(PermissionError):
        owned.make_own_folder(str(tmp_path / "theirs"))


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"kept")
    (tmp_path / "link").symlink_to("victim")
    with pytest.raises(OSError, match="symbolic links"):
        owned.write_private(str(tmp_path / "link"), b"x")
    with pytest.raises(OSError, match="symbolic links"):
        owned.append_to(str(tmp_path / "link"))
    assert (tmp_path / "victim").read_bytes() == b"kept"
