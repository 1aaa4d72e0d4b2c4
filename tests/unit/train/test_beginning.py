"""What the first ranks of a job take from where it began."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from phalanx.checkpoint import beginning
from phalanx.checkpoint.manifest import PER_RANK, REPLICATED, Piece
from phalanx.checkpoint.weights import measured, weights_in
from phalanx.errors import CheckpointError
from phalanx.names import Keys, checkpoint_name
from phalanx.plan.lineage import ALL, WEIGHTS, Origin
from phalanx.train import Checkpointer, randomness
from phalanx.train.restoring import RANDOM
from tests.support.saves import Saves, environment

OTHER = "0000000040-0"


@pytest.fixture
def saves(tmp_path: Path) -> Saves:
    """`job-1` began from step 40 of another job, or will once a test says so."""
    made = Saves(tmp_path)
    made.seal(0)
    return made


@pytest.fixture
def enter(saves: Saves, monkeypatch: pytest.MonkeyPatch) -> Any:
    def put(origin: Origin, **more: str) -> None:
        beginning.claim(saves.store, saves.keys, origin)
        beginning.hold(saves.store, saves.keys, origin)
        said = environment(saves, PHALANX_INIT_FROM="somewhere", **more)
        for name, value in said.items():
            monkeypatch.setenv(name, value)

    return put


def write(saves: Saves, step: int, state: dict[str, Any]) -> None:
    """One committed step of a job of one rank."""
    plain = {**state, "model": state["model"].state_dict(), RANDOM: randomness.capture()}
    plain["optimizer"] = state["optimizer"].state_dict()
    saver = saves.saver(0, 0, 1)
    placed = {"n": PER_RANK, RANDOM: PER_RANK}
    saver.begin(step, plain, tuple(Piece(n, placed.get(n, REPLICATED)) for n in plain))
    saver.wait()
    assert saves.commit(checkpoint_name(step, 0), 0).state.value == "committed"


def other_job(saves: Saves, take: str) -> Origin:
    """Step 40 of `other-1`: a model of ones, an optimizer that has stepped, a counter."""
    theirs = Saves(Path(saves.root).parent)
    theirs.keys = Keys("other-1")
    theirs.seal(0)
    state = fresh(1.0)
    state["model"](torch.ones(1, 2)).sum().backward()
    state["optimizer"].step()
    write(theirs, 40, {**state, "n": 7})
    read = beginning.read_exactly(theirs.store, theirs.keys.manifest(OTHER), OTHER)
    return Origin(take, "other-1", OTHER, 40, read.digest)


def fresh(value: float = 0.0) -> dict[str, Any]:
    model = torch.nn.Linear(2, 1)
    torch.nn.init.constant_(model.weight, value)
    return {"model": model, "optimizer": torch.optim.AdamW(model.parameters()), "n": 0}


def test_a_fine_tune_takes_the_weights_and_counts_from_0(
    saves: Saves, enter: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    enter(other_job(saves, WEIGHTS))
    state = fresh()
    assert Checkpointer(state).restore() == 0
    assert state["model"].weight.min() > 0.9
    assert state["optimizer"].state_dict()["state"] == {}
    assert state["n"] == 0
    assert "begins with the weights of step 40 of other-1" in capsys.readouterr().err


def test_a_continuation_takes_everything_and_counts_on(saves: Saves, enter: Any) -> None:
    enter(other_job(saves, ALL), PHALANX_TOTAL_STEPS="50")
    state = fresh()
    assert Checkpointer(state).restore() == 40
    assert state["model"].weight.min() > 0.9
    assert state["optimizer"].state_dict()["state"][0]["step"] == 1
    assert state["n"] == 7


def test_its_own_commit_goes_before_where_it_began(saves: Saves, enter: Any) -> None:
    enter(other_job(saves, WEIGHTS))
    state = fresh(3.0)
    write(saves, 5, state)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PHALANX_RESUME", "0000000005-0")
        again = fresh()
        assert Checkpointer(again).restore() == 5
    assert again["model"].weight.min() == 3.0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda state: {"net": state["model"]}, "holds no 'net'"),
        (lambda state: {"n": 0}, "the state holds no module that could take the weights"),
        (lambda state: {"model": torch.nn.Linear(3, 1)}, r"has shape \(1, 3\) here but \(1, 2\)"),
    ],
)
def test_what_does_not_fit_is_told(saves: Saves, enter: Any, change: Any, says: str) -> None:
    enter(other_job(saves, WEIGHTS))
    with pytest.raises(CheckpointError, match=says):
        Checkpointer(change(fresh())).restore()


def test_damage_after_the_submit_ends_the_rank_with_one_line(
    saves: Saves, enter: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    enter(other_job(saves, WEIGHTS))
    held = Path(saves.root, beginning.held(saves.keys, OTHER), "shards/00000-0.safetensors")
    data = bytearray(held.read_bytes())
    data[-1] ^= 1
    held.unlink()
    held.write_bytes(data)
    with pytest.raises(SystemExit) as ended:
        Checkpointer(fresh()).restore()
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "init_from cannot be read" in said
    assert "its sha256 is not the one written" in said


class Tied(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(4, 3)
        self.head = torch.nn.Linear(3, 4, bias=False)
        self.head.weight = self.embed.weight


def files(path: Path) -> Origin:
    """As a submit measures them."""
    folder = path.parent if path.is_file() else path
    found = tuple(measured(str(folder), name) for name in weights_in(str(path)))
    return Origin(weights=str(path), files=found)


def test_safetensors_that_name_a_tied_tensor_once(saves: Saves, enter: Any, tmp_path: Path) -> None:
    save_file({"embed.weight": torch.full((4, 3), 2.0)}, tmp_path / "model.safetensors")
    enter(files(tmp_path))
    model = Tied()
    assert Checkpointer({"net": torch.nn.DataParallel(model)}).restore() == 0
    assert model.head.weight.unique().tolist() == [2.0]


@pytest.mark.parametrize("nest", [lambda w: w, lambda w: {"state_dict": w, "epoch": 3}])
def test_files_of_torch_also_inside_a_larger_one(
    saves: Saves, enter: Any, tmp_path: Path, nest: Any
) -> None:
    weights = {
        f"module.{k}": torch.ones_like(v) for k, v in torch.nn.Linear(2, 1).state_dict().items()
    }
    torch.save(nest(weights), tmp_path / "best.pt")
    enter(files(tmp_path / "best.pt"))
    state = fresh()
    assert Checkpointer(state).restore() == 0
    assert state["model"].weight.tolist() == [[1.0, 1.0]]


class Anything:
    """A class of the user's own, which no file may bring along."""


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"w": Anything()}, "is not loaded, as it holds more than tensors"),
        ({"w": 1}, "holds no tensors by name"),
        ([torch.ones(1)], "holds no tensors by name"),
    ],
)
def test_other_content_is_refused(
    saves: Saves, enter: Any, tmp_path: Path, content: Any, says: str
) -> None:
    torch.save(content, tmp_path / "best.pt")
    enter(files(tmp_path / "best.pt"))
    with pytest.raises(CheckpointError, match=says):
        Checkpointer(fresh()).restore()


def test_several_modules_take_a_file_each(saves: Saves, enter: Any, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    for at, name in enumerate(("a", "b")):
        weights = {k: torch.full_like(v, at) for k, v in torch.nn.Linear(2, 1).state_dict().items()}
        save_file(weights, folder / f"{name}.safetensors")
    enter(files(folder))
    state = {"a": torch.nn.Linear(2, 1), "b": torch.nn.Linear(2, 1)}
    Checkpointer(state).restore()
    assert [m.weight.tolist() for m in state.values()] == [[[0.0, 0.0]], [[1.0, 1.0]]]
    with pytest.raises(CheckpointError, match="the state has the modules a, c"):
        Checkpointer({"a": torch.nn.Linear(2, 1), "c": torch.nn.Linear(2, 1)}).restore()
    with pytest.raises(CheckpointError, match="holds 'bias' twice"):
        Checkpointer({"only": torch.nn.Linear(2, 1)}).restore()


class Later:
    """What a framework's callback puts into the state in the place of its model."""

    phalanx_weights = True

    def __init__(self) -> None:
        self.saved: dict[str, Any] = {}

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        self.saved = saved


def test_a_value_that_stands_for_a_module_takes_its_weights(saves: Saves, enter: Any) -> None:
    enter(other_job(saves, WEIGHTS))
    state = {"model": Later(), "optimizer": fresh()["optimizer"]}
    assert Checkpointer(state).restore() == 0
    assert state["model"].saved["weight"].min() > 0.9
