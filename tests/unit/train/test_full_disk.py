"""No space left, or a root that turned read-only: one clear line, and training goes on."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from phalanx.state.gang import Head
from phalanx.train import Checkpointer
from tests.support.mounts import remount, tiny
from tests.support.saves import AgentDouble, Saves, environment
from tests.support.waiting import until


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    with tiny(tmp_path / "tiny", "size=2m") as mounted:
        yield mounted


@pytest.fixture
def saves(place: Path, monkeypatch: pytest.MonkeyPatch) -> Saves:
    made = Saves(place)
    made.seal(0)
    for name, value in environment(made, PHALANX_TOTAL_STEPS="4").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PHALANX_RANK_DIR", str(place.parent / "rank"))
    return made


def is_remounted(place: Path, options: str) -> bool:
    """False while somebody writes to it."""
    try:
        remount(place, options)
    except subprocess.CalledProcessError:
        return False
    return True


def test_a_full_disk_costs_a_save_not_the_run(
    saves: Saves, capfd: pytest.CaptureFixture[str]
) -> None:
    state: dict[str, Any] = {"x": [np.zeros(3 << 20, np.uint8)]}
    with AgentDouble(saves, 0):
        checkpointer = Checkpointer(state, every="2steps")
        for step in range(checkpointer.restore(), 4):
            checkpointer.step(step)
            if step == 1:
                state["x"][0] = np.zeros(10, np.uint8)
    lines = capfd.readouterr().err.splitlines()
    assert [line.partition(": step 2 could not be saved: ")[0] for line in lines] == [
        "phalanx: rank 0"
    ]
    assert "the disk is full (free some space" in lines[0]
    assert saves.head() == Head(0, "0000000004-0")


def test_a_last_save_on_a_full_disk_fails_the_rank(
    saves: Saves, capfd: pytest.CaptureFixture[str]
) -> None:
    checkpointer = Checkpointer({"x": np.zeros(3 << 20, np.uint8)})
    for step in range(checkpointer.restore(), 3):
        checkpointer.step(step)
    with pytest.raises(SystemExit) as left:
        checkpointer.step(3)
    assert left.value.code == 1
    first, second = capfd.readouterr().err.splitlines()
    assert "step 4 could not be saved: " in first
    assert "the last save failed: " in second
    assert "the disk is full" in second


def test_a_read_only_root_is_told(
    saves: Saves, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    checkpointer = Checkpointer({"x": 1}, every="1step")
    assert checkpointer.restore() == 0
    checkpointer.step(0)
    until(lambda: is_remounted(place, "ro"))
    checkpointer.step(1)
    checkpointer.step(2)  # waits for the save before, which has failed
    until(lambda: is_remounted(place, "rw"))
    with AgentDouble(saves, 0):
        checkpointer.step(3)
    lines = capfd.readouterr().err.splitlines()
    assert lines
    told = [line for line in lines if "the file system is read-only (remount it" not in line]
    assert not told, told
    assert saves.head() == Head(0, "0000000004-0")
