"""Manifests and parts: what is wrong with one is said, and nothing leaves the folder."""

from __future__ import annotations

import json
from typing import Any

import pytest

from phalanx.checkpoint.manifest import (
    Manifest,
    Part,
    ShardFile,
    is_inside,
    manifest_of,
    problem_of_parts,
    read_manifest,
    read_part,
)
from phalanx.errors import CheckpointUnreadable
from phalanx.frozen import replace
from phalanx.state import codec

NAME = "0000000400-1"


def part(rank: int, world: int = 2, file: str = "") -> Part:
    shard = ShardFile(file or f"shards/{rank:05d}-0.safetensors", 100 + rank, "0" * 64)
    return Part(rank, NAME, 1, 400, world, (shard,), framework=(("python", "3.11"),))


def manifest() -> Manifest:
    return manifest_of((part(1), part(0)), "0000000300-0", "c0de", 7)


def test_a_manifest_states_the_whole() -> None:
    whole = manifest()
    assert read_manifest(codec.dumps(whole), NAME) == whole
    assert [p.rank for p in whole.parts] == [0, 1]
    assert (whole.bytes, whole.order, whole.framework) == (201, (1, 400), (("python", "3.11"),))


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/passwd",
        "shards/../../other",
        "/etc/passwd",
        "shards\\..\\x",
        "c:/x",
        "./x",
        "shards//x",
        "",
        "x\0y",
        "x\ny",
        "x" * 2000,
        None,
        7,
        ["shards"],
    ],
)
def test_a_path_that_leaves_the_folder_is_refused(name: Any) -> None:
    assert not is_inside(name)
    words = codec.plain(manifest())
    words["parts"][1]["shards"][0]["name"] = name
    with pytest.raises(CheckpointUnreadable, match=r"not inside the checkpoint's folder|malformed"):
        read_manifest(json.dumps(words).encode(), NAME)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"step": 401}, "it is of"),
        ({"attempt": 2}, "it is of"),
        ({"name": "0000000401-1"}, "it is of 0000000401-1"),
        ({"world_size": 3}, "not of all 3"),
        ({"world_size": "2"}, "malformed"),
        ({"parts": []}, "not of all 2"),
        ({"parts": None}, "malformed"),
        ({"parent": "../x"}, "no checkpoint's name"),
        ({"step": None}, "malformed"),
    ],
)
def test_a_wrong_manifest_is_refused(change: dict[str, Any], says: str) -> None:
    words = {**codec.plain(manifest()), **change}
    with pytest.raises(CheckpointUnreadable, match="manifest of 0000000400-1") as caught:
        read_manifest(json.dumps(words).encode(), NAME)
    assert says in caught.value.message


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"7", b"{}", b"[" * 5000, b"\xff"])
def test_bytes_that_are_no_manifest_are_refused(data: bytes) -> None:
    with pytest.raises(CheckpointUnreadable, match="malformed"):
        read_manifest(data, NAME)
    with pytest.raises(CheckpointUnreadable, match="malformed"):
        read_part(data, NAME, 0)


def test_parts_are_held_against_each_other() -> None:
    good = part(0), part(1)
    assert problem_of_parts(good, NAME, 2) == ""
    assert "not of all 2" in problem_of_parts(good[:1], NAME, 2)
    assert "not of all 2" in problem_of_parts((part(0), part(0)), NAME, 2)
    assert "over 4 ranks" in problem_of_parts((part(0), part(1, world=4)), NAME, 2)
    assert "is of" in problem_of_parts((part(0), replace(part(1), name="x")), NAME, 2)
    assert "is of" in problem_of_parts((part(0), replace(part(1), step=5)), NAME, 2)
    unsized = replace(part(1), shards=(ShardFile("a", -1, "0" * 64),))
    assert "a size of -1" in problem_of_parts((part(0), unsized), NAME, 2)
    undigested = replace(part(1), shards=(ShardFile("a", 1, "0" * 63),))
    assert "without a sha256" in problem_of_parts((part(0), undigested), NAME, 2)


def test_a_part_is_of_its_rank() -> None:
    with pytest.raises(CheckpointUnreadable, match="part 1 of 0000000400-1 is of rank 0"):
        read_part(codec.dumps(part(0)), NAME, 1)
