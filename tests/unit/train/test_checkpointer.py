"""`Checkpointer` in one process: it reports, saves when due, resumes, and says what is wrong."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from phalanx.checkpoint.commit import CommitState
from phalanx.checkpoint.find import names
from phalanx.errors import CheckpointError, InputError, StateUnsupported
from phalanx.state.gang import Head
from phalanx.train import Checkpointer
from phalanx.train.rank import UNREADABLE_EXIT
from tests.support.saves import AgentDouble, Saves, environment
from tests.support.waiting import until


@pytest.fixture
def saves(tmp_path: Path) -> Saves:
    made = Saves(tmp_path)
    made.seal(0)
    return made


@pytest.fixture
def agent(saves: Saves) -> Iterator[AgentDouble]:
    with AgentDouble(saves, 0) as double:
        yield double


@pytest.fixture
def enter(saves: Saves, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put what an agent tells a rank into the environment."""

    def put(attempt: int = 0, **more: str) -> None:
        for name, value in environment(saves, attempt, **more).items():
            monkeypatch.setenv(name, value)

    return put


def train(state: dict[str, Any], steps: range, **options: Any) -> Checkpointer:
    checkpointer = Checkpointer(state, **options)
    start = checkpointer.restore()
    for step in range(start, steps.stop):
        state["x"] += step
        checkpointer.step(step, loss=1 / (step + 1))
    return checkpointer


def progress(saves: Saves) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(saves.root).parent / "rank-0/progress").read_bytes())
    return found


def test_outside_phalanx_it_does_nothing_and_says_so_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PHALANX_JOB", raising=False)
    monkeypatch.setenv("RANK", "1")
    assert Checkpointer({}).restore() == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("RANK", "0")
    state = {"x": np.zeros(2)}
    with train(state, range(5)) as checkpointer, checkpointer.phase("eval"):
        assert state["x"].tolist() == [10, 10]
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "not started by phalanx" in said


def test_saves_by_steps_and_the_last_one_and_resumes_from_it(
    saves: Saves, agent: AgentDouble, enter: Any
) -> None:
    enter(PHALANX_SAVE_EVERY="4steps", PHALANX_TOTAL_STEPS="10")
    train({"x": np.zeros(2)}, range(10))
    assert names(saves.store, saves.keys) == ("0000000010-0", "0000000008-0", "0000000004-0")
    assert saves.head() == Head(0, "0000000010-0")
    until(lambda: {"done": 10, "rank": 0} in agent.messages)
    told = progress(saves)
    assert (told["step"], told["total"], told["phase"]) == (10, 10, "done")
    assert told["metrics"] == {"loss": 0.1}
    assert told["first_ns"] > 0
    assert told["stall_ns"] > 0

    saves.seal(1)
    enter(1, PHALANX_TOTAL_STEPS="12")
    state = {"x": np.zeros(2)}
    with AgentDouble(saves, 1) as second:
        train(state, range(12))
    assert state["x"].tolist() == [66, 66]
    assert saves.head() == Head(1, "0000000012-1")
    assert saves.manifest("0000000012-1").parent == "0000000010-0"
    assert [m for m in second.messages if "part" in m] == [{"part": "0000000012-1", "rank": 0}]


def test_a_job_that_was_done_already_is_done_again(
    saves: Saves, agent: AgentDouble, enter: Any
) -> None:
    enter(PHALANX_TOTAL_STEPS="3")
    train({"x": np.zeros(1)}, range(3))
    saves.seal(1)
    enter(1, PHALANX_TOTAL_STEPS="3")
    with AgentDouble(saves, 1) as second:
        train({"x": np.zeros(1)}, range(3))
    assert second.messages == [{"done": 3, "rank": 0}]
    assert saves.head() == Head(1, "0000000003-0")


def test_a_block_saves_its_last_step_but_not_after_an_error(
    saves: Saves, agent: AgentDouble, enter: Any
) -> None:
    enter(PHALANX_SAVE_EVERY="100steps")
    with train({"x": np.zeros(1)}, range(5)):
        pass
    assert saves.head() == Head(0, "0000000005-0")
    with pytest.raises(ZeroDivisionError), train({"x": np.zeros(1)}, range(7)) as failing:
        failing.step(7 // 0)
    assert saves.head() == Head(0, "0000000005-0")


def test_saves_by_time(saves: Saves, agent: AgentDouble, enter: Any) -> None:
    enter(PHALANX_SAVE_EVERY="0.01s")
    checkpointer = Checkpointer({"x": 1})
    step = checkpointer.restore()

    def trained_until_saved() -> bool:
        nonlocal step
        checkpointer.step(step)
        step += 1
        return len([m for m in agent.messages if "part" in m]) >= 2

    until(trained_until_saved)
    checkpointer.finish()
    assert saves.head() == Head(0, f"{step:010d}-0")


def test_random_numbers_go_on(saves: Saves, agent: AgentDouble, enter: Any) -> None:
    import random

    import torch

    def draw() -> tuple[float, float, float]:
        return random.random(), float(np.random.rand()), torch.rand(1).item()

    enter(PHALANX_SAVE_EVERY="1step")
    draw()
    checkpointer = Checkpointer({})
    checkpointer.restore()
    checkpointer.step(0)
    expected = draw()
    checkpointer.finish()
    saves.seal(1)
    enter(1)
    draw()
    assert Checkpointer({}).restore() == 1
    assert draw() == expected


def test_phases_are_announced_and_not_counted_as_training(
    saves: Saves, agent: AgentDouble, enter: Any
) -> None:
    enter()
    checkpointer = Checkpointer({})
    checkpointer.restore()
    assert progress(saves)["phase"] == "train"
    with checkpointer.phase("eval"):
        assert progress(saves)["phase"] == "eval"
    assert progress(saves)["phase"] == "train"
    checkpointer.phase("eval")
    before = progress(saves)["train_ns"]
    checkpointer.step(0)
    assert progress(saves)["phase"] == "train"
    assert progress(saves)["train_ns"] == before


def test_a_checkpoint_that_cannot_be_read_ends_the_rank(
    saves: Saves, enter: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    name = saves.committed(10)
    path = saves.path(name, "shards/00000-0.safetensors")
    path.write_bytes(path.read_bytes()[:-1])
    enter()
    with AgentDouble(saves, 0) as double, pytest.raises(SystemExit) as left:
        Checkpointer({"step": 0, "rank": 0}).restore()
    assert left.value.code == UNREADABLE_EXIT
    (message,) = double.messages
    assert (message["unreadable"], message["rank"]) == (name, 0)
    assert "00000-0.safetensors has" in message["because"]
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"phalanx: rank 0: cannot read checkpoint {name}: jobs/job-1/")


def test_another_state_is_told_in_one_line(saves: Saves, enter: Any) -> None:
    saves.committed(10)
    enter()
    with pytest.raises(CheckpointError, match="holds no 'ema'"):
        Checkpointer({"step": 0, "ema": 0}).restore()


def test_a_taken_over_attempt_ends_with_a_line(
    saves: Saves, enter: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    enter(PHALANX_TOTAL_STEPS="2")
    saves.seal(1)
    with AgentDouble(saves, 0), pytest.raises(SystemExit) as left:
        train({"x": np.zeros(1)}, range(2))
    assert left.value.code == 1
    assert "attempt 1 has taken over" in capsys.readouterr().err
    assert saves.head() == Head(1)


def test_a_failed_save_is_told_training_goes_on_and_the_next_one_tries_again(
    saves: Saves, agent: AgentDouble, enter: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    enter(PHALANX_SAVE_EVERY="2steps", PHALANX_TOTAL_STEPS="4")
    shard = saves.path("0000000002-0", "shards/00000-0.safetensors")
    shard.parent.mkdir(parents=True)
    shard.write_bytes(b"somebody else's")
    train({"x": np.zeros(1)}, range(4))
    assert "rank 0: step 2 could not be saved: " in capfd.readouterr().err
    assert saves.head() == Head(0, "0000000004-0")


def test_a_failed_last_save_ends_the_rank(
    saves: Saves, agent: AgentDouble, enter: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    enter(PHALANX_TOTAL_STEPS="2")
    shard = saves.path("0000000002-0", "shards/00000-0.safetensors")
    shard.parent.mkdir(parents=True)
    shard.write_bytes(b"somebody else's")
    with pytest.raises(SystemExit) as left:
        train({"x": np.zeros(1)}, range(2))
    assert left.value.code == 1
    assert "rank 0: the last save failed: " in capfd.readouterr().err
    assert {"done": 2, "rank": 0} not in agent.messages


@pytest.mark.parametrize(
    ("state", "options", "error", "says"),
    [
        ([], {}, InputError, "a dict from names to values"),
        ({1: 2}, {}, InputError, "a dict from names to values"),
        ({"phalanx.random": 1}, {}, InputError, "are reserved"),
        ({"x": 1}, {"per_rank": ["y"]}, InputError, "'y' is not a name in the state"),
        ({"x": object()}, {}, StateUnsupported, "holds a builtins.object"),
        ({"x": 1}, {"every": "often"}, InputError, "is not understood"),
    ],
)
def test_wrong_use_is_refused_at_once(
    state: Any, options: Any, error: type[Exception], says: str, enter: Any
) -> None:
    enter()
    with pytest.raises(error, match=says):
        Checkpointer(state, **options)


def test_a_state_that_cannot_be_saved_is_told_before_training(saves: Saves, enter: Any) -> None:
    enter()
    with pytest.raises(StateUnsupported, match=r"state\['x'\]\[0\] holds a object;"):
        Checkpointer({"x": [object()]}).restore()


def test_without_an_agent_nothing_is_told(saves: Saves, enter: Any) -> None:
    enter(PHALANX_SAVE_EVERY="1step")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as unread:
        unread.bind(str(Path(saves.root).parent / "agent-0"))
        checkpointer = Checkpointer({})
        checkpointer.restore()
        checkpointer.step(0)
        assert json.loads(unread.recv(8192)) == {"part": "0000000001-0", "rank": 0}
    checkpointer.step(1)  # the agent is gone: the write goes on without it
    until(lambda: "0000000002-0" in names(saves.store, saves.keys))
    until(lambda: saves.store.list(saves.keys.parts("0000000002-0")))


def test_the_interpreter_ends_only_after_the_write_under_way(saves: Saves) -> None:
    program = (
        "from phalanx.train import Checkpointer;"
        "c = Checkpointer({'x': b'x' * (64 << 20)}, every='1step');"
        "c.step(c.restore()); print('left', flush=True)"
    )
    env = {**os.environ, **environment(saves)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "left\n", "")
    assert saves.commit("0000000001-0", 0).state is CommitState.COMMITTED
    assert saves.manifest("0000000001-0").bytes > 64 << 20
