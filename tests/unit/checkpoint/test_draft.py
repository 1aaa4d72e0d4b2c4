"""A folder is whole or not there, and what stops it is told with what to do."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from phalanx.checkpoint.draft import drafted
from phalanx.checkpoint.restore import check_target
from phalanx.errors import CheckpointUnreadable, StoreUnavailable
from phalanx.store.refusals import unwritable

NOBODY = 65_534


@contextmanager
def closed() -> Iterator[str]:
    """A folder that this process may neither list nor write to."""
    was = os.geteuid()
    with TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o500 if was == 0 else 0)
        if was == 0:
            os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            os.seteuid(was)
            os.chmod(folder, 0o700)


def put(to: Path | str, error: BaseException, *besides: Path) -> None:
    """Begin the folder `to`, make some files elsewhere, and end with an error."""
    with drafted(str(to)) as draft:
        Path(draft, "below").mkdir()
        for path in besides:
            path.touch()
        raise error


def test_a_folder_and_those_above_it_appear_at_the_end(tmp_path: Path) -> None:
    to = tmp_path / "a" / "b" / "out"
    with drafted(str(to)) as draft:
        Path(draft, "file").write_text("x")
        assert not to.exists()
    assert (to / "file").read_text() == "x"
    assert os.listdir(to.parent) == ["out"]


@pytest.mark.parametrize(
    "error", [CheckpointUnreadable("torn"), KeyboardInterrupt(), OSError(5, "Input/output error")]
)
def test_whatever_ends_it_early_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    expected = StoreUnavailable if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        put(tmp_path / "a" / "b" / "out", error)
    assert os.listdir(tmp_path) == []


def test_folders_above_that_hold_something_else_by_then_stay(tmp_path: Path) -> None:
    with pytest.raises(CheckpointUnreadable):
        put(tmp_path / "a" / "b" / "out", CheckpointUnreadable("torn"), tmp_path / "a" / "theirs")
    assert os.listdir(tmp_path) == ["a"]
    assert os.listdir(tmp_path / "a") == ["theirs"]


def test_a_folder_of_somebody_else_is_told() -> None:
    with closed() as folder:
        with pytest.raises(StoreUnavailable, match="permission denied") as unlisted:
            check_target(folder)
        with pytest.raises(StoreUnavailable, match="permission denied"):
            put(f"{folder}/a/out", AssertionError("it was made"))
    assert unlisted.value.hint == "name another place"


def test_a_limit_of_file_size_is_named(tmp_path: Path) -> None:
    """As `ulimit -f` gives it: in a process of its own, for the whole of it is limited."""
    write = (
        "import resource, sys\n"
        "from phalanx.checkpoint.draft import drafted\n"
        "from phalanx.errors import StoreUnavailable\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    with drafted(sys.argv[1]) as draft, open(f'{draft}/file', 'wb') as file:\n"
        "        file.write(bytes(2000))\n"
        "except StoreUnavailable as error:\n"
        "    print(error.line())\n"
    )
    words = [sys.executable, "-c", write, str(tmp_path / "out")]
    said = subprocess.run(words, capture_output=True, text=True).stdout
    assert said.startswith(
        f"{tmp_path}/out cannot be written: a file would be larger than it may be"
    )
    assert "`ulimit -f`" in said
    assert os.listdir(tmp_path) == []


def test_outside_of_a_root_no_rule_or_advice_of_a_root_is_told() -> None:
    said = [unwritable(OSError(code, os.strerror(code)), "/out").line() for code in errno.errorcode]
    assert len(said) > 100
    assert [line for line in said if "the root" in line or "another root" in line] == []
    assert [line for line in said if "object of phalanx" in line or not line.endswith(")")] == []
