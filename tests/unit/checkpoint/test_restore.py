"""A checkpoint in plain form: whole, readable without phalanx, or not there at all."""

from __future__ import annotations

import json
import os
import re
from collections import OrderedDict, deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from phalanx.checkpoint.manifest import PER_RANK, REPLICATED, Piece
from phalanx.checkpoint.restore import FORMATS, Restored, Source, restore
from phalanx.errors import CheckpointUnreadable, InputError, StoreUnavailable
from tests.support.mounts import tiny
from tests.support.plainly import values_in
from tests.support.saves import JOB, Saves

NAME = "0000000010-0"


def saved(tmp_path: Path, states: list[dict[str, Any]], replicated: tuple[str, ...] = ()) -> Saves:
    """Step 10, committed by as many ranks as there are states."""
    saves = Saves(tmp_path)
    saves.seal(0)
    for rank, state in enumerate(states):
        layout = tuple(Piece(n, REPLICATED if n in replicated else PER_RANK) for n in state)
        saver = saves.saver(0, rank, len(states))
        saver.begin(10, state, layout)
        saver.wait()
        assert saver.problem is None
    saves.commit(NAME, 0, world=len(states))
    return saves


def restored(saves: Saves, to: Path, *formats: str) -> Restored:
    return restore(saves.store, Source(JOB, NAME), str(to), formats or FORMATS[:1])


@pytest.fixture
def two_ranks(tmp_path: Path) -> Saves:
    model = torch.nn.Linear(2, 3)
    torch.nn.init.constant_(model.weight, 0.5)
    shared = {"epoch": 3, "betas": (0.9, 0.999)}
    first = {"model": model.state_dict(), "meta": shared, "seen": {"at": np.arange(3)}}
    second = {"meta": shared, "seen": {"at": np.arange(3) + 5}}
    return saved(tmp_path, [first, second], replicated=("model",))


def test_weights_are_read_by_the_library_and_the_rest_by_json(
    two_ranks: Saves, tmp_path: Path
) -> None:
    to = tmp_path / "out"
    done = restored(two_ranks, to)
    weights = load_file(to / "model.safetensors")
    assert torch.equal(weights["weight"], torch.full((3, 2), 0.5))
    about = json.loads((to / "phalanx.json").read_text())
    assert (about["step"], about["world_size"], about["weights"]) == (10, 2, ["model.safetensors"])
    assert about["values"]["meta"]["value"] == {"epoch": 3, "betas": {"tuple": [0.9, 0.999]}}
    assert sorted(done.files) == sorted(os.listdir(to))
    assert done.bytes == sum(path.stat().st_size for path in to.iterdir())


def test_what_the_ranks_do_not_share_is_kept_for_each(two_ranks: Saves, tmp_path: Path) -> None:
    restored(two_ranks, tmp_path / "out")
    values = values_in(tmp_path / "out")
    assert values["meta"] == {"epoch": 3, "betas": (0.9, 0.999)}
    assert [value["at"].tolist() for value in values["seen"]] == [[0, 1, 2], [5, 6, 7]]


def test_tied_and_overlapping_tensors_stand_under_each_of_their_names(tmp_path: Path) -> None:
    run = torch.arange(6, dtype=torch.float32)
    state = {"a": run, "b": run, "view": run[::2], "deep": {"a.b": run[:1] + 1, "a": {"b": run}}}
    restored(saved(tmp_path, [{"model": state}]), tmp_path / "out")
    found = load_file(tmp_path / "out" / "model.safetensors")
    assert torch.equal(found["a"], run)
    assert torch.equal(found["b"], run)
    assert found["view"].tolist() == [0, 2, 4]
    assert {found["deep.a.b"].numel(), found["deep.a.b~1"].numel()} == {1, 6}


def test_torch_loads_it_without_trusting_it(tmp_path: Path) -> None:
    state = {
        "model": OrderedDict(w=torch.ones(2, dtype=torch.bfloat16)),
        "rest": {
            "array": np.arange(3, dtype=">f8"),
            "words": np.array([b"a", b"b"]),
            "when": np.array([5], dtype="M8[s]"),
            "number": np.float32(1.5),
            "queue": deque([1, 2], maxlen=3),
            "some": {4},
            "z": 1 + 2j,
            "raw": bytearray(b"xy"),
            (1, "k"): (torch.Size([2]), torch.float16, torch.device("cpu")),
        },
    }
    to = tmp_path / "out"
    restored(saved(tmp_path, [state]), to, "torch")
    assert sorted(os.listdir(to)) == ["checkpoint.pt", "phalanx.json"]
    loaded = torch.load(to / "checkpoint.pt", weights_only=True)
    assert loaded["step"] == 10
    assert torch.equal(loaded["state"]["model"]["w"], torch.ones(2, dtype=torch.bfloat16))
    rest = loaded["state"]["rest"]
    assert rest["array"].tolist() == [0.0, 1.0, 2.0]
    assert rest["words"] == [b"a", b"b"]
    assert rest["when"].tolist() == [5]
    assert (rest["number"], rest["queue"], rest["some"]) == (1.5, [1, 2], [4])
    assert (rest["z"], rest["raw"]) == ([1.0, 2.0], bytearray(b"xy"))
    assert rest[1, "k"] == (torch.Size([2]), torch.float16, torch.device("cpu"))
    assert loaded["about"]["job"] == JOB


def test_values_of_each_rank_are_a_list_for_torch(two_ranks: Saves, tmp_path: Path) -> None:
    restored(two_ranks, tmp_path / "out", "torch", "safetensors")
    loaded = torch.load(tmp_path / "out" / "checkpoint.pt", weights_only=True)
    seen = loaded["per_rank"]["seen"]
    assert [value["at"].tolist() for value in seen] == [[0, 1, 2], [5, 6, 7]]
    assert sorted(loaded["state"]) == ["meta", "model"]
    assert (tmp_path / "out" / "model.safetensors").exists()


def test_damage_is_told_and_leaves_nothing(two_ranks: Saves, tmp_path: Path) -> None:
    shard = two_ranks.path(NAME, "shards/00001-0.safetensors")
    data = bytearray(shard.read_bytes())
    data[-1] ^= 1
    shard.unlink()
    shard.write_bytes(data)
    with pytest.raises(CheckpointUnreadable, match="its sha256 is not the one written"):
        restored(two_ranks, tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["root"]


def test_a_folder_that_holds_something_is_left_alone(two_ranks: Saves, tmp_path: Path) -> None:
    to = tmp_path / "out"
    to.mkdir()
    restored(two_ranks, to)  # empty: it may be used
    with pytest.raises(InputError, match="is there already and not empty"):
        restored(two_ranks, to)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is there already"):
        restored(two_ranks, tmp_path / "file")


@pytest.mark.parametrize(
    ("below", "says"),
    [
        ("file/below", r"file/below cannot be written: .*/file is no folder \(name another place"),
        ("new/file/../../file/x/y", "is no folder"),
        ("new/" + "n" * 300, "cannot be written: the path is too long"),
        ("new/deep/" + "n" * 254, "cannot be written: the path is too long"),
        ("/proc/x", r"^/proc/x cannot be written: No such file"),
    ],
)
def test_a_place_that_cannot_be_made_is_told_and_nothing_is_left(
    two_ranks: Saves, tmp_path: Path, below: str, says: str
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable) as refused:
        restored(two_ranks, tmp_path / below)
    assert refused.value.exit_code == 4
    assert re.search(says, refused.value.line()), refused.value.line()
    assert sorted(os.listdir(tmp_path)) == ["file", "root"]


@pytest.mark.parametrize(("form", "free"), [("safetensors", 1), ("torch", 1), ("torch", 64)])
def test_a_full_disk_leaves_nothing(tmp_path: Path, form: str, free: int) -> None:
    saves = saved(tmp_path, [{"model": {"w": torch.ones(100_000)}}])
    with tiny(tmp_path / "disk", f"size={free * 4}k") as disk:
        with pytest.raises(StoreUnavailable, match="out cannot be written: the disk is full") as e:
            restored(saves, disk / "new" / "out", form)
        assert e.value.hint == "free some space, or name another place"
        assert os.listdir(disk) == []


def test_a_read_only_place_is_told(two_ranks: Saves, tmp_path: Path) -> None:
    with (
        tiny(tmp_path / "disk", "size=64k,ro") as disk,
        pytest.raises(StoreUnavailable, match="the file system is read-only"),
    ):
        restored(two_ranks, disk / "out")


def test_a_mounted_folder_is_named_as_what_it_is(two_ranks: Saves, tmp_path: Path) -> None:
    with tiny(tmp_path / "disk", "size=640k") as disk:
        with pytest.raises(StoreUnavailable, match="disk cannot be written") as refused:
            restored(two_ranks, disk)
        assert "name a new folder inside of it" in refused.value.hint
        assert os.listdir(disk) == []
    assert sorted(os.listdir(tmp_path)) == ["disk", "root"]


def test_a_link_to_an_empty_folder_stays_a_link(two_ranks: Saves, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    restored(two_ranks, tmp_path / "link")
    assert os.readlink(tmp_path / "link") == "real"
    assert "phalanx.json" in os.listdir(tmp_path / "real")


def test_a_draft_of_somebody_else_is_left_alone(two_ranks: Saves, tmp_path: Path) -> None:
    other = tmp_path / f"out.{os.getpid()}.tmp"
    other.mkdir()
    (other / "theirs").touch()
    with pytest.raises(StoreUnavailable, match="File exists"):
        restored(two_ranks, tmp_path / "out")
    assert os.listdir(other) == ["theirs"]


def test_a_hostile_name_stays_inside_the_folder(tmp_path: Path) -> None:
    states = {"../../up": {"t": torch.ones(1)}, "..": {"t": torch.ones(1)}, "": torch.ones(1)}
    done = restored(saved(tmp_path, [states]), tmp_path / "out")
    assert all(os.sep not in name and not name.startswith(".") for name in done.files)
    assert sorted(os.listdir(tmp_path)) == ["out", "root"]
