"""Exported weights are plain SafeTensors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from phalanx.errors import CheckpointError, StateUnsupported
from phalanx.train import export


class Tied(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(4, 3)
        self.head = torch.nn.Linear(3, 4, bias=False)
        self.head.weight = self.embed.weight


def test_weights_are_read_by_the_library(tmp_path: Path) -> None:
    model, path = Tied(), tmp_path / "weights.safetensors"
    export(torch.nn.DataParallel(model), path)
    loaded = load_file(path)
    assert sorted(loaded) == ["embed.weight", "head.weight"]
    assert torch.equal(loaded["head.weight"], model.head.weight)
    assert os.listdir(tmp_path) == ["weights.safetensors"]
    export({"only": torch.ones(2)}, path)
    assert list(load_file(path)) == ["only"]


def test_only_rank_0_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    export(Tied(), tmp_path / "weights.safetensors")
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_exported_is_told(tmp_path: Path) -> None:
    with pytest.raises(StateUnsupported, match=r"'x' cannot be exported: it is a tensor of"):
        export({"x": torch.ones(1, dtype=torch.complex64)}, tmp_path / "a")
    with pytest.raises(StateUnsupported, match="'x' cannot be exported: it is a int"):
        export({"x": 1}, tmp_path / "a")
    with pytest.raises(CheckpointError, match="cannot be written: No such file"):
        export({"x": torch.ones(1)}, tmp_path / "missing" / "a")
    assert os.listdir(tmp_path) == []
