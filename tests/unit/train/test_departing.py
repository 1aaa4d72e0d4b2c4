"""A rank that is told of a departure: it saves and waits for its end, or declines."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from phalanx.agent.departure import Departure, Notice, rebalance, sigterm
from phalanx.train import Checkpointer
from tests.support.saves import Saves, environment
from tests.support.waiting import until


class Listener:
    """What a rank tells its agent."""

    def __init__(self, path: str) -> None:
        self.said: list[dict[str, Any]] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(path)
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        while data := self._socket.recv(65536):
            self.said.append(json.loads(data))

    def answers(self) -> list[dict[str, Any]]:
        return [words for words in self.said if "notice" in words]

    def close(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()


@pytest.fixture
def saves(tmp_path: Path) -> Saves:
    made = Saves(tmp_path)
    made.seal(0)
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "r"
    made.mkdir()
    return made


@pytest.fixture
def agent(saves: Saves, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listener]:
    made = Listener(str(folder / "agent"))
    words = {"PHALANX_RANK_DIR": str(folder), "PHALANX_AGENT_SOCKET": str(folder / "agent")}
    for name, value in {
        **environment(saves, 0),
        **words,
        "PHALANX_SAVE_EVERY": "1000steps",
    }.items():
        monkeypatch.setenv(name, value)
    yield made
    made.close()


def give(folder: Path, notice: Notice) -> None:
    Departure(notice, [str(folder)])


def train(steps: int, folder: Path, at: int, notice: Notice, **state: Any) -> Checkpointer:
    checkpointer = Checkpointer({"x": np.zeros(4), **state})
    first = checkpointer.restore()
    for step in range(first, first + steps):
        if step == at:
            give(folder, notice)
        checkpointer.step(step)
    return checkpointer


def test_it_saves_one_step_after_it_heard_and_then_waits(agent: Listener, folder: Path) -> None:
    began_ns = time.monotonic_ns()
    notice = sigterm(1.0)
    train(12, folder, 5, notice)
    assert until(agent.answers) == [{"saved": "0000000007-0", "notice": "SIGTERM", "rank": 0}]
    assert time.monotonic_ns() >= began_ns + 10**9, "no step is finished before the deadline"


def test_advice_is_saved_for_and_training_goes_on(agent: Listener, folder: Path) -> None:
    train(12, folder, 5, rebalance())
    (answer,) = until(agent.answers)
    assert answer == {"saved": "0000000007-0", "notice": "rebalance", "rank": 0}


def test_a_save_that_takes_longer_than_what_is_left_is_declined(
    agent: Listener, folder: Path
) -> None:
    checkpointer = train(8, folder, 2, rebalance(), ballast=bytes(64 << 20))
    until(agent.answers)
    give(folder, sigterm(0.001))
    for step in range(8, 12):
        checkpointer.step(step)
    until(lambda: len(agent.answers()) == 2)
    declined = agent.answers()[1]
    assert declined["notice"] == "SIGTERM"
    assert declined["declined"].startswith("a save takes ")
    assert declined["declined"].endswith(" ms are left")


def test_a_failed_save_is_declined_with_its_reason(
    agent: Listener, folder: Path, saves: Saves
) -> None:
    blocked = Path(saves.root) / saves.keys.checkpoints / "0000000007-0"
    blocked.parent.mkdir(parents=True, exist_ok=True)
    blocked.write_text("a file where a folder must be")
    train(12, folder, 5, sigterm(5.0))
    (answer,) = until(agent.answers)
    assert answer["notice"] == "SIGTERM"
    assert answer["declined"]
    assert "saved" not in answer


def test_ranks_that_cannot_agree_decline(
    agent: Listener, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    train(8, folder, 3, sigterm(30.0))
    (answer,) = until(agent.answers)
    assert "cannot agree" in answer["declined"]


def test_nothing_is_saved_twice(agent: Listener, folder: Path) -> None:
    """The restored or just saved step answers a notice as it is."""
    checkpointer = train(8, folder, 5, rebalance())
    until(agent.answers)
    before = sorted(os.listdir(Path(os.environ["PHALANX_ROOT"]) / "jobs"))
    give(folder, rebalance())
    checkpointer.step(8)
    assert len(agent.answers()) == 1
    assert sorted(os.listdir(Path(os.environ["PHALANX_ROOT"]) / "jobs")) == before
