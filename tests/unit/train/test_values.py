"""What may stand in the state, and how it is put back."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch

from phalanx.checkpoint.manifest import PER_RANK, REPLICATED
from phalanx.errors import CheckpointError, StateUnsupported
from phalanx.train import values


class Sampler:
    def __init__(self) -> None:
        self.seen = 0

    def state_dict(self) -> dict[str, int]:
        return {"seen": self.seen}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.seen = state["seen"]


class Compiled(torch.nn.Module):
    """The shape of what torch.compile gives, without its seconds of imports."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self._orig_mod = module


def test_objects_are_filled_in_place() -> None:
    sampler, array, tensor = Sampler(), np.zeros(2), torch.zeros(2)
    mapping, items, marks = {"old": 1}, [1], {1}
    state: dict[str, Any] = {
        "sampler": sampler,
        "array": array,
        "tensor": tensor,
        "mapping": mapping,
        "items": items,
        "marks": marks,
        "epoch": 0,
    }
    saved: dict[str, Any] = {
        "sampler": {"seen": 9},
        "array": np.ones(2),
        "tensor": torch.ones(2),
        "mapping": {"new": 2},
        "items": [2, 3],
        "marks": {2},
        "epoch": 5,
    }
    for name in state:
        values.put_back(state, name, saved[name])
    assert sampler.seen == 9
    assert (array.tolist(), tensor.tolist()) == ([1, 1], [1, 1])
    assert (mapping, items, marks, state["epoch"]) == ({"new": 2}, [2, 3], {2}, 5)


@pytest.mark.parametrize("kind", ["python", "numpy", "torch"])
def test_generators_go_on_where_they_were(kind: str) -> None:
    make: dict[str, Any] = {
        "python": lambda: (lambda g: (g, g.random))(random.Random(1)),
        "numpy": lambda: (lambda g: (g, g.random))(np.random.default_rng(1)),
        "torch": lambda: (lambda g: (g, lambda: torch.rand(1, generator=g).item()))(
            torch.Generator().manual_seed(1)
        ),
    }
    first, draw = make[kind]()
    draw()
    saved = values.collect(first)
    expected = draw()
    second, draw_again = make[kind]()
    values.put_back({"generator": second}, "generator", saved)
    assert draw_again() == expected


def test_a_wrapped_module_is_saved_under_its_own_names() -> None:
    module = torch.nn.Linear(2, 2)
    for wrapped in (torch.nn.DataParallel(module), Compiled(module)):
        assert values.unwrapped(wrapped) is module
        assert list(values.collect(wrapped)) == ["weight", "bias"]


def test_another_model_gives_one_clear_line() -> None:
    small, big = torch.nn.Linear(2, 2), torch.nn.Linear(3, 2)
    with pytest.raises(CheckpointError) as caught:
        values.put_back({"model": big}, "model", small.state_dict())
    assert caught.value.line() == (
        "state['model']: 'weight' has shape (2, 3) here but (2, 2) when saved "
        "(resume with the model that was saved)"
    )
    with pytest.raises(CheckpointError, match=r"'bias' is missing .* and 1 more differ"):
        values.put_back({"model": small}, "model", {"weight": torch.ones(3, 3)})
    with pytest.raises(CheckpointError, match=r"'0\.weight' is missing"):
        values.put_back({"model": torch.nn.Sequential(small)}, "model", small.state_dict())


def test_another_optimizer_array_or_type_is_refused() -> None:
    one = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
    two = torch.optim.SGD([torch.nn.Parameter(torch.ones(1)) for _ in range(2)], lr=0.1)
    with pytest.raises(CheckpointError, match=r"state\['opt'\] \(SGD\) does not take"):
        values.put_back({"opt": two}, "opt", one.state_dict())
    with pytest.raises(CheckpointError, match="has shape and type"):
        values.put_back({"a": np.zeros(2)}, "a", np.zeros(3))
    with pytest.raises(CheckpointError, match="has shape and type"):
        values.put_back({"a": torch.zeros(2)}, "a", torch.zeros(2, dtype=torch.float64))
    with pytest.raises(CheckpointError, match="is a list here but was a dict"):
        values.put_back({"a": [1]}, "a", {})


def test_placement_is_by_kind_unless_told() -> None:
    marked = Sampler()
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    for value in (model, optimizer, scheduler, torch.ones(1), torch.amp.GradScaler("cpu")):
        assert values.placement("x", value, (), ()) == REPLICATED
        assert values.placement("x", value, ("x",), ()) == PER_RANK
    for value in (marked, {"a": 1}, 5, np.zeros(1), torch.Generator()):
        assert values.placement("x", value, (), ()) == PER_RANK
        assert values.placement("x", value, (), ("x",)) == REPLICATED
    model.phalanx_per_rank = True  # type: ignore[assignment]
    assert values.placement("x", model, (), ()) == PER_RANK


def test_rank_0_writes_all_and_the_others_their_own() -> None:
    placements = {"model": REPLICATED, "sampler": PER_RANK}
    assert values.written_by(0, placements) == ["model", "sampler"]
    assert values.written_by(3, placements) == ["sampler"]


def test_what_cannot_be_kept_is_refused_at_once() -> None:
    with pytest.raises(StateUnsupported, match=r"state\['x'\] holds a builtins.object"):
        values.check("x", object())
    with pytest.raises(StateUnsupported, match=r"state\['sampler'\]\['x'\] holds a"):
        values.try_out({"sampler": {"x": object()}})
