"""What another number of ranks may take from a checkpoint."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from phalanx.checkpoint.manifest import PER_RANK, REPLICATED, Piece
from phalanx.errors import CheckpointError, CheckpointUnreadable
from phalanx.train.restoring import Checkpoint
from tests.support.saves import Saves


@pytest.fixture
def saved(tmp_path: Path) -> Checkpoint:
    """Two ranks: `model` by rank 0, `epoch` and `table` equal on both, `seen` different."""
    saves = Saves(tmp_path)
    saves.seal(0)
    for rank in range(2):
        state = {"epoch": 3, "table": np.arange(4), "seen": [rank], "entry": {"entry": "table"}}
        if rank == 0:
            state["model"] = np.ones(3)
        layout = tuple(Piece(n, REPLICATED if n == "model" else PER_RANK) for n in state)
        saver = saves.saver(0, rank, 2)
        saver.begin(10, state, layout)
        saver.wait()
    saves.commit("0000000010-0", 0, world=2)
    return Checkpoint(saves.store, saves.keys, "0000000010-0")


def test_the_same_ranks_get_their_own(saved: Checkpoint) -> None:
    names = {"model": REPLICATED, "seen": PER_RANK}
    for rank in range(2):
        values = saved.values(names, rank, 2)
        assert values["seen"] == [rank]
        assert values["model"].tolist() == [1, 1, 1]


@pytest.mark.parametrize(("rank", "world"), [(0, 1), (3, 4)])
def test_other_ranks_get_what_all_had_alike(saved: Checkpoint, rank: int, world: int) -> None:
    names = {"model": REPLICATED, "epoch": PER_RANK, "table": PER_RANK, "entry": PER_RANK}
    values = saved.values(names, rank, world)
    assert values["epoch"] == 3
    assert values["table"].tolist() == [0, 1, 2, 3]
    assert values["entry"] == {"entry": "table"}


def test_what_differs_is_not_spread_over_other_ranks(saved: Checkpoint) -> None:
    with pytest.raises(CheckpointError, match=r"state\['seen'\] differs between the 2 ranks"):
        saved.values({"seen": PER_RANK}, 0, 3)


def test_a_name_that_the_shard_lacks_is_unreadable(saved: Checkpoint) -> None:
    with pytest.raises(CheckpointUnreadable, match="rank 1 holds no 'model'"):
        saved.values({"model": PER_RANK}, 1, 2)
    assert saved.placements["model"] == REPLICATED
