"""What a file's structure says: whole, torn, or nothing."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from phalanx.checkpoint.folder.forms import Form, form_of, of_bytes
from phalanx.checkpoint.folder.zips import problem_of_zip
from tests.support.watched_writers import saved, tensors

ARCHIVE = saved(7)
TENSORS = tensors(7)


def form(name: str, data: bytes, *, deep: bool = False) -> Form:
    return form_of(name, of_bytes(memoryview(data)), deep=deep)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.pt", ARCHIVE),
        ("a.safetensors", TENSORS),
        ("a.json", b'{"step": 3}'),
        ("note", b""),
    ],
)
def test_whole(name: str, data: bytes) -> None:
    assert form(name, data) is Form.WHOLE
    assert form(name, data, deep=True) is Form.WHOLE


def test_nothing_tells_where_it_ends() -> None:
    old = io.BytesIO()
    torch.save({"x": 1}, old, _use_new_zipfile_serialization=False)
    assert form("a.pt", old.getvalue()) is Form.UNKNOWN
    assert form("latest", b"step 20") is Form.UNKNOWN


@given(st.integers(0, len(ARCHIVE) - 1))
def test_an_archive_cut_short_is_torn(length: int) -> None:
    assert form("a.pt", ARCHIVE[:length]) is Form.TORN


@given(st.integers(0, len(TENSORS) - 1))
def test_tensors_cut_short_are_torn(length: int) -> None:
    assert form("a.safetensors", TENSORS[:length]) is Form.TORN


@given(st.integers(1, 60))
def test_more_than_an_archive_is_torn(more: int) -> None:
    assert form("a.pt", ARCHIVE + b"\0" * more) is Form.TORN
    assert form("a.safetensors", TENSORS + b"\0" * more) is Form.TORN


@given(st.integers(1, len(ARCHIVE) - 1))
def test_new_bytes_over_old_ones_show_in_the_checksums(length: int) -> None:
    """Overwritten in place up to here: whole again only where the two do not differ."""
    mixed = saved(8)[:length] + ARCHIVE[length:]
    if mixed not in (ARCHIVE, saved(8)):
        assert form("a.pt", mixed, deep=True) is Form.TORN


@given(st.binary(max_size=200), st.sampled_from(["a.pt", "a.json", "a.safetensors", "a"]))
def test_any_bytes_are_judged_without_a_fault(data: bytes, name: str) -> None:
    assert form(name, b"PK" + data, deep=True) is Form.TORN
    assert form(name, data) in Form


def test_a_packed_archive() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("arr.npy", b"x" * 5000)
    assert form("a.npz", out.getvalue(), deep=True) is Form.WHOLE
    broken = out.getvalue().replace(b"arr.npy", b"arr.nqy", 1)
    assert form("a.npz", broken, deep=True) is Form.WHOLE  # names are not what it is about


def test_members_beyond_four_gibibytes() -> None:
    """Sizes and places in the 64-bit field, as in archives that are larger than 4 GiB."""
    data, name, full = b"0123456789abcdef", b"a", 0xFFFFFFFF
    head = struct.pack("<4s5H3L2H", b"PK\3\4", 45, 0, 0, 0, 0, 0, full, full, 1, 0) + name + data
    wide = struct.pack("<2H3Q", 1, 24, len(data), len(data), 0)
    row = struct.pack(
        "<4s6H3L5H2L", b"PK\1\2", 45, 45, 0, 0, 0, 0, 0, full, full, 1, len(wide), 0, 0, 0, 0, full
    )
    rows = row + name + wide
    end = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, len(rows), len(head))
    at = len(head) + len(rows)
    end += struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
    end += struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, full, full, 0)
    archive = head + rows + end
    source = of_bytes(memoryview(archive))
    assert problem_of_zip(source.size, source.read, deep=True) == ""
    short = archive.replace(data, data[:-1])
    assert form("a.pt", short) is Form.TORN


def test_nothing_is_unpickled() -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return exec, ("raise SystemExit('it went off')",)

    assert form("a.pkl", pickle.dumps(Bomb()), deep=True) is Form.UNKNOWN
