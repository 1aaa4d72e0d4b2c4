"""Which files of a folder hold the weights, and that only those that were measured are taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from phalanx.checkpoint.weights import measured, tensors_of, unchanged, weights_in
from phalanx.errors import CheckpointUnreadable, InputError


def touch(folder: Path, *names: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_bytes(b"")
    return folder


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["model.safetensors", "optimizer.pt", "training_args.bin"], ["model.safetensors"]),
        (["a.safetensors", "b.safetensors", "c.pt"], ["a.safetensors", "b.safetensors"]),
        (["model.safetensors", "adapter.safetensors"], ["model.safetensors"]),
        (["pytorch_model.bin", "training_args.bin"], ["pytorch_model.bin"]),
        (["last.ckpt", "notes.txt"], ["last.ckpt"]),
    ],
)
def test_the_files_that_hold_the_weights(
    tmp_path: Path, names: list[str], chosen: list[str]
) -> None:
    folder = touch(tmp_path / "w", *names)
    assert list(weights_in(str(folder))) == chosen
    assert weights_in(str(folder / names[-1])) == (names[-1],)


def test_an_index_names_its_files(tmp_path: Path) -> None:
    folder = touch(tmp_path / "w", "m-1.safetensors", "m-2.safetensors", "x.safetensors")
    index = folder / "model.safetensors.index.json"
    words = {"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors", "c": "m-1.safetensors"}}
    index.write_text(json.dumps(words))
    assert weights_in(str(folder)) == ("m-1.safetensors", "m-2.safetensors")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"weight_map": {"a": "../secret"}}', r"names '\.\./secret', not there"),
        ('{"weight_map": {"a": "gone.safetensors"}}', "names 'gone.safetensors', not there"),
        ('{"weight_map": {"a": 3}}', "names 3, not there"),
        ("[]", "is no index of weights"),
        ("{", "is no index of weights"),
    ],
)
def test_a_wrong_index_is_refused(tmp_path: Path, text: str, says: str) -> None:
    folder = touch(tmp_path / "w", "x.safetensors")
    (folder / "model.safetensors.index.json").write_text(text)
    with pytest.raises(InputError, match=says):
        weights_in(str(folder))


def test_what_could_be_meant_twice_or_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds a\.pt, b\.pt: which one\?"):
        weights_in(str(touch(tmp_path / "two", "a.pt", "b.pt")))
    with pytest.raises(InputError, match=r"holds no \.safetensors"):
        weights_in(str(touch(tmp_path / "none", "a.txt")))
    with pytest.raises(InputError, match="there is nothing at"):
        weights_in(str(tmp_path / "missing"))


def test_only_what_was_measured_is_taken(tmp_path: Path) -> None:
    tensors = {"w": torch.arange(3, dtype=torch.bfloat16), "n": torch.tensor(5)}
    save_file(tensors, tmp_path / "m.safetensors")
    file = measured(str(tmp_path), "m.safetensors")
    found = tensors_of(str(tmp_path), file)
    assert torch.equal(found["w"], tensors["w"])
    assert found["n"].item() == 5
    save_file({"w": torch.ones(3, dtype=torch.bfloat16), "n": torch.tensor(5)}, tmp_path / "x")
    (tmp_path / "x").rename(tmp_path / "m.safetensors")
    for look in (tensors_of, unchanged):
        with pytest.raises(CheckpointUnreadable, match="has changed since the job was submitted"):
            look(str(tmp_path), file)
    (tmp_path / "m.safetensors").unlink()
    with pytest.raises(CheckpointUnreadable, match="cannot be read: No such file"):
        unchanged(str(tmp_path), file)


def test_a_file_that_holds_something_else_is_told_before_the_job_begins(tmp_path: Path) -> None:
    torch.save({"w": torch.ones(1)}, tmp_path / "new.pt")
    torch.save({"w": torch.ones(1)}, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    for name in ("new.pt", "old.pt"):
        assert measured(str(tmp_path), name).bytes > 0
    touch(tmp_path, "empty.pt", "empty.safetensors")
    (tmp_path / "text.pt").write_text("weights")
    for name in ("empty.pt", "text.pt", "empty.safetensors"):
        with pytest.raises(CheckpointUnreadable, match=name):
            measured(str(tmp_path), name)
