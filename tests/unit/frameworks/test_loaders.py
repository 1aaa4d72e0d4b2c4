"""Loaders with processes that prefetch: the position is what the training loop has consumed."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset
from torchdata.stateful_dataloader import StatefulDataLoader

from phalanx.errors import InputError
from phalanx.frameworks.loader import PositionedLoader
from phalanx.frameworks.torchdata import StatefulEpochs
from phalanx.train import Checkpointer, PositionedSampler
from tests.support.saves import AgentDouble, Saves, environment

# torchdata 0.11 calls a function of torch that newer ones warn of.
pytestmark = pytest.mark.filterwarnings("ignore:'set_vital' is deprecated:UserWarning")

DATA = TensorDataset(torch.arange(20))


def positioned(workers: int, **order: Any) -> PositionedLoader:
    return PositionedLoader(DATA, 3, {"world": (0, 1), "tail": "pad", **order}, num_workers=workers)


def stateful(workers: int) -> StatefulEpochs:
    generator = torch.Generator()
    made = StatefulDataLoader(
        DATA, batch_size=3, shuffle=True, num_workers=workers, generator=generator
    )
    return StatefulEpochs(made, seed=4)


def batches(loader: Any) -> Any:
    """(epoch, ids) of two epochs, from where the loader is."""
    for epoch in loader.epochs(2):
        for (ids,) in loader:
            yield epoch, ids.tolist()


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("make", [positioned, stateful])
def test_every_place_of_two_epochs_is_gone_on_from(make: Any, workers: int) -> None:
    calm = list(batches(make(workers)))
    for epoch in range(2):
        assert sorted(i for e, ids in calm if e == epoch for i in ids) == list(range(20))
    assert [ids for _, ids in calm[:7]] != [ids for _, ids in calm[7:]]
    for done in (0, 1, 5, 7, 9, 14) if workers == 0 else (2, 7):
        first, second = make(workers), make(workers)
        assert list(islice(batches(first), done)) == calm[:done]
        second.load_state_dict(first.state_dict())
        assert list(batches(second)) == calm[done:]


def test_the_positions_go_through_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saves = Saves(tmp_path)
    expected: list[Any] = []
    for attempt in range(2):
        saves.seal(attempt)
        for name, value in environment(saves, attempt, PHALANX_SAVE_EVERY="2steps").items():
            monkeypatch.setenv(name, value)
        one, two = positioned(2), stateful(2)
        with AgentDouble(saves, attempt), Checkpointer({"one": one, "two": two}) as checkpointer:
            step = checkpointer.restore()
            assert step == 4 * attempt
            pairs = zip(batches(one), batches(two), strict=True)
            if attempt:
                assert list(pairs) == expected
                break
            for _ in islice(pairs, 4):
                checkpointer.step(step)
                step += 1
        expected = list(pairs)


def test_another_number_of_ranks_goes_on_from_the_same_place() -> None:
    alone = positioned(0, global_batch=6)
    assert len(list(islice(alone, 2))) == 2
    parts = [positioned(0, global_batch=6, world=(rank, 2)) for rank in range(2)]
    for part in parts:
        part.load_state_dict(alone.state_dict())
    rest = [[index for (ids,) in part for index in ids.tolist()] for part in parts]
    assert [index for pair in zip(*rest, strict=True) for index in pair] == [
        index for (ids,) in alone_from(alone) for index in ids.tolist()
    ]


def alone_from(loader: PositionedLoader) -> PositionedLoader:
    again = positioned(0, global_batch=6)
    again.load_state_dict(loader.state_dict())
    return again


def test_the_global_random_numbers_stay_untouched() -> None:
    before = torch.get_rng_state()
    list(positioned(0))
    assert torch.equal(torch.get_rng_state(), before)


def test_an_ordinary_loader_with_the_sampler() -> None:
    sampler = PositionedSampler(DATA, seed=3, world=(0, 2))
    loader = DataLoader(DATA, batch_size=3, sampler=sampler, num_workers=2, prefetch_factor=4)
    taken = [ids.tolist() for (ids,) in islice(sampler.batches(loader), 2)]
    assert sampler.consumed == 12
    assert [index for ids in taken for index in ids] == list(
        PositionedSampler(DATA, seed=3, world=(0, 2))
    )[:6]
    assert len(sampler) == 10
    assert sampler.left == 8


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: PositionedSampler(0), "the dataset is empty"),
        (lambda: PositionedSampler(9, tail="keep"), "tail='keep' is not understood"),
        (lambda: PositionedSampler(9, world=(2, 2)), "rank 2 does not exist among 2"),
        (lambda: PositionedSampler(9, world=(0, 2), global_batch=3), "2 ranks cannot share"),
        (lambda: PositionedLoader(DATA, 3, shuffle=True), "has a sampler of its own"),
        (lambda: list(PositionedSampler(9).batches([1])), "the loader has no batch_size"),
        (
            lambda: PositionedSampler(9).load_state_dict(PositionedSampler(8).state_dict()),
            "the dataset had 8 samples when saved and has 9 now",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(make: Any, says: str) -> None:
    with pytest.raises(InputError) as refused:
        make()
    assert says in refused.value.line()
    assert refused.value.hint or says.startswith(("the dataset is", "rank 2"))
