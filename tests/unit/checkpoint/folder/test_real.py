"""Saves of the real libraries, made by themselves in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from phalanx.checkpoint.folder.judge import Finding, Judge
from phalanx.checkpoint.folder.scan import look_at
from phalanx.checkpoint.folder.units import units_in

PROVEN = Finding(is_proven=True)


def judged(folder: Path) -> dict[str, tuple[str, int | None, Finding]]:
    judge = Judge(str(folder), 1)
    found = units_in(look_at(str(folder)))
    return {unit.name: (unit.kind, unit.number, judge.judge(unit)) for unit in found}


def test_the_trainer_and_lightning(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.support.real_writers", str(tmp_path)]
    calm = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(words, env=calm, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    folder = tmp_path / "trainer"
    kept = {"checkpoint-2": ("huggingface", 2, PROVEN), "checkpoint-4": ("huggingface", 4, PROVEN)}
    assert judged(folder) == kept
    state = folder / "checkpoint-4" / "trainer_state.json"
    content = state.read_text()
    state.unlink()
    assert judged(folder)["checkpoint-4"][2].problem
    state.write_text(content)
    (folder / "checkpoint-4" / "rng_state.pth").unlink()
    assert judged(folder)["checkpoint-4"][2].problem == "rng_state of rank 0 is missing"
    found = judged(tmp_path / "lightning")
    assert [one[:2] for one in found.values()] == [("lightning", 2), ("lightning", 4)]
    assert all(one[2] == PROVEN for one in found.values())
    (link,) = look_at(str(tmp_path / "lightning")).links
    assert link.base == "last.ckpt"
    newest = next(tmp_path.rglob("*step=4.ckpt"))
    newest.write_bytes(newest.read_bytes()[:-1])
    assert judged(tmp_path / "lightning")[str(newest.relative_to(tmp_path / "lightning"))][
        2
    ].problem
