"""Shards are SafeTensors files, and a malformed one is refused."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from phalanx.checkpoint import shard
from phalanx.checkpoint.hostcopy import HostCopy
from phalanx.errors import CheckpointUnreadable


def file_of(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def whole() -> bytes:
    frozen = HostCopy().take({"w": torch.arange(3.0), "b": torch.tensor([True])}, {"who": "me"})
    return b"".join(shard.chunks(frozen.header, frozen.data))


def test_the_library_reads_what_we_write(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    state = {
        "model": {"w": torch.randn(3, 5).bfloat16(), "b": torch.tensor([True, False])},
        "f8": torch.randn(7).to(torch.float8_e4m3fn),
        "empty": torch.empty(0, 2),
        "scalar": torch.tensor(2.5, dtype=torch.float64),
    }
    frozen = HostCopy().take(state, {"who": "me"})
    path.write_bytes(b"".join(shard.chunks(frozen.header, frozen.data)))
    loaded = load_file(path)
    assert sorted(loaded) == ["empty", "f8", "model.b", "model.w", "scalar"]
    assert torch.equal(loaded["model.w"], state["model"]["w"])
    assert torch.equal(loaded["f8"].view(torch.uint8), state["f8"].view(torch.uint8))
    assert loaded["scalar"].item() == 2.5
    with safe_open(path, "pt") as opened:
        assert opened.metadata()["who"] == "me"


def test_the_data_is_aligned() -> None:
    state = {"bytes": torch.ones(3, dtype=torch.uint8), "wide": torch.ones(2, dtype=torch.float64)}
    frozen = HostCopy().take(state, {})
    assert len(frozen.header) % 64 == 0
    table = json.loads(frozen.header[8:])
    assert table["wide"]["data_offsets"] == [0, 16]


def test_one_copy_of_memory_serves_all_saves() -> None:
    copy = HostCopy()
    weight = torch.zeros(1000)
    first = copy.take({"w": weight}, {})
    weight += 1
    second = copy.take({"w": weight}, {})
    assert bytes(first.data) == bytes(second.data) == bytes(weight.numpy())


def entry(start: int, end: int, **more: Any) -> dict[str, Any]:
    return {"dtype": "U8", "shape": [end - start], "data_offsets": [start, end], **more}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "too few"),
        (b"\xff" * 8, "a header of"),
        (struct.pack("<Q", 100) + b"{}", "a header of 100 bytes in a file of 10"),
        (file_of(b"{nonsense"), "Expecting property name"),
        (file_of([]), "no object"),
        (file_of(b"[" * 5000), "recursion"),
        (file_of({"__metadata__": {"a": 1}}), "not made of strings"),
        (file_of({"a": {"dtype": "U8"}}), "data_offsets"),
        (file_of({"a": entry(0, 4, dtype="F128")}, bytes(4)), "F128"),
        (file_of({"a": entry(0, 4, shape=[3])}, bytes(4)), "does not fit its shape"),
        (file_of({"a": entry(0, 4, shape=[-4])}, bytes(4)), "no whole number"),
        (file_of({"a": entry(0, 4, shape=[True, 4])}, bytes(4)), "no whole number"),
        (file_of({"a": entry(0, 4)}, bytes(3)), "3 bytes of data where the header tells of 4"),
        (file_of({"a": entry(0, 4)}, bytes(5)), "5 bytes of data where the header tells of 4"),
        (file_of({"a": entry(0, 4), "b": entry(2, 6)}, bytes(6)), "'b' begins at 2 where 4"),
        (file_of({"a": entry(0, 2), "b": entry(4, 6)}, bytes(6)), "'b' begins at 4 where 2"),
        (file_of({"a": entry(-2, 2)}, bytes(4)), "no whole number"),
        (file_of(b'{"a":%b,"a":%b}' % ((json.dumps(entry(0, 1)).encode(),) * 2), b"x"), "twice"),
    ],
)
def test_a_malformed_file_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(CheckpointUnreadable, match="the/file is not a whole SafeTensors") as caught:
        shard.parse(memoryview(data), "the/file")
    assert says in caught.value.message


@pytest.mark.parametrize("change", [lambda d: d[:-1], lambda d: d + b"x", lambda d: d[:100]])
def test_a_file_cut_or_grown_is_refused(change: Callable[[bytes], bytes]) -> None:
    with pytest.raises(CheckpointUnreadable):
        shard.parse(memoryview(change(whole())), "file")


def test_a_file_of_others_has_no_tree() -> None:
    parsed = shard.parse(memoryview(file_of({"a": entry(0, 1)}, b"x")), "file")
    assert bytes(parsed.bytes("a")) == b"x"
    with pytest.raises(CheckpointUnreadable, match="no readable state tree"):
        parsed.tree()
