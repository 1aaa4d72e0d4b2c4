"""The progress file: fixed size, always whole, metrics as numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from phalanx.train.progress import METRICS_EVERY_NS, SIZE, Progress


class Loss:
    """A one-element tensor on a device: reading it is counted."""

    def __init__(self) -> None:
        self.reads = 0

    def item(self) -> float:
        self.reads += 1
        return 0.5


def words(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    assert len(data) == SIZE
    found: dict[str, Any] = json.loads(data)
    return found


def test_the_file_tells_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "private" / "progress"
    progress = Progress(str(path), 100)
    progress.step, progress.phase, progress.saving = 7, 'an "odd" phase', True
    progress.first_ns, progress.train_ns, progress.stall_ns = 5, 6, 7
    progress.note({"loss": 0.25, "n": 3, "ok": True}, 1)
    progress.show(9)
    assert words(path) == {
        "step": 7,
        "total": 100,
        "phase": 'an "odd" phase',
        "metrics": {"loss": 0.25, "n": 3.0, "ok": 1.0},
        "first_ns": 5,
        "train_ns": 6,
        "stall_ns": 7,
        "saving": True,
        "at_ns": 9,
    }
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    progress.note({}, METRICS_EVERY_NS * 5)
    progress.show(10)
    assert words(path)["metrics"]["loss"] == 0.25


def test_a_device_is_asked_at_most_twice_a_second(tmp_path: Path) -> None:
    progress, loss = Progress("", None), Loss()
    for now_ns in range(0, 3 * METRICS_EVERY_NS, METRICS_EVERY_NS // 10):
        progress.note({"loss": loss}, now_ns)
    assert loss.reads == 3
    progress.note({"loss": loss}, now_ns, must=True)
    assert loss.reads == 4


def test_odd_metrics_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "progress"
    progress = Progress(str(path), None)
    odd = {"text": "x", "none": None, "nan": math.nan, "many": [1, 2], "loss": 1}
    progress.note({**odd, **{f"metric-{n}": n / 3 for n in range(1000)}}, 0)
    progress.show(0)
    metrics = words(path)["metrics"]
    assert math.isnan(metrics.pop("nan"))
    assert metrics["loss"] == 1
    assert set(metrics) & set(odd) == {"loss"}
    assert 10 < len(metrics) < 1000
    assert words(path)["total"] is None


def test_a_folder_that_is_gone_does_not_stop_training(tmp_path: Path) -> None:
    path = tmp_path / "progress"
    progress = Progress(str(path), None)
    path.unlink()
    progress.show(0)
    assert not path.exists()
