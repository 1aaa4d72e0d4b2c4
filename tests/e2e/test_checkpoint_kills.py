"""Whoever is killed at whatever moment of a save: what is committed is there, whole and right."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from phalanx.checkpoint.find import listing
from tests.support.saves import Saves


def killed_saves(folder: Path, trials: int, seed: int) -> dict[str, int]:
    """Counts of a run of the harness in a process of its own, which has one thread and forks."""
    command = [sys.executable, "-m", "tests.support.killed_saves", folder, trials, seed]
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    counts: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return counts


def check(folder: Path, trials: int, seed: int) -> dict[str, int]:
    counts = killed_saves(folder, trials, seed)
    print(f"seed {seed}: {counts}")
    assert (counts["unreadable"], counts["wrong"], counts["lost"]) == (0, 0, 0)
    assert counts["trials"] == trials
    saves = Saves(folder)
    found = listing(saves.store, saves.keys, read_all=True)
    assert all(row.verified for row in found.rows if row.committed)
    return counts


@pytest.mark.e2e
def test_kills_inside_saves(tmp_path: Path) -> None:
    counts = check(tmp_path, trials=25, seed=1)
    assert counts["commits"] > 0, "no trial lived long enough to commit: nothing was proved"


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 110))
def test_a_thousand_kills_inside_saves(tmp_path: Path, seed: int) -> None:
    trials = int(os.environ.get("PHALANX_SOAK_KILLS", "1000"))
    check(tmp_path, trials=trials, seed=seed)
