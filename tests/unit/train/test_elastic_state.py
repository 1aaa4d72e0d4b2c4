"""State that cannot change its size is refused when an elastic job's script starts."""

from __future__ import annotations

import pytest
import torch

from phalanx.errors import InputError
from phalanx.train import Checkpointer

ENVIRONMENT = {
    "PHALANX_JOB": "j-1",
    "PHALANX_ROOT": "/nowhere",
    "RANK": "0",
    "WORLD_SIZE": "2",
    "PHALANX_MAX_WORLD_SIZE": "4",
}


def test_a_model_in_pieces_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match="state\\['model'\\] has a piece on every rank") as caught:
        Checkpointer({"model": torch.nn.Linear(1, 1), "step": 0}, per_rank=["model"])
    assert caught.value.hint == "write a fixed number of nodes, such as nodes: 4"
