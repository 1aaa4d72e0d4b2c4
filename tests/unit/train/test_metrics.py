"""The metrics file: a line a step, whole lines only, and never a reason to stop training."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

from phalanx.train import metrics
from phalanx.train.metrics import MetricsFile, numbers

AT = 1_796_000_000_250_000_000


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_points_follow_the_mark_of_their_attempt(tmp_path: Path) -> None:
    path = tmp_path / "metrics" / "00000.jsonl"
    for attempt, first in ((0, 0), (1, 2)):
        file = MetricsFile(str(path), attempt)
        file.resumed(first, AT)
        file.note(first + 1, {"loss": 0.5, "done": True}, AT)
        file.flush()
        file.note(first + 2, {"loss": 0.25}, AT)
        file.flush()
        file.flush()
    time = "2026-11-30T00:53:20.250Z"
    found = lines(path)
    assert found[0] == {"attempt": 0, "time": time, "resumed_from": 0}
    values = {"loss": 0.5, "done": 1.0}
    assert found[1] == {"step": 1, "attempt": 0, "time": time, "values": values}
    assert [line.get("step", "mark") for line in found] == ["mark", 1, 2, "mark", 3, 4]
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_nothing_is_written_before_something_is_reported(tmp_path: Path) -> None:
    file = MetricsFile(str(tmp_path / "metrics" / "00000.jsonl"), 0)
    file.resumed(0, AT)
    file.note(1, {}, AT)
    file.flush()
    assert list(tmp_path.iterdir()) == []


def test_values_are_those_of_the_moment_they_were_reported(tmp_path: Path) -> None:
    path, running = tmp_path / "m" / "0.jsonl", torch.zeros(1)
    file = MetricsFile(str(path), 0)
    for step in (1, 2, 3):
        running += 1
        file.note(step, {"sum": running, "many": torch.zeros(2), "word": "x", "none": None}, AT)
    file.flush()
    assert [line["values"] for line in lines(path)] == [{"sum": 1.0}, {"sum": 2.0}, {"sum": 3.0}]


class OnDevice:
    """A one-element tensor on a device: reading it waits, copying it does not."""

    device = torch.device("meta")

    def __init__(self, value: float, reads: list[float]) -> None:
        self.value = value
        self.reads = reads

    def numel(self) -> int:
        return 1

    def detach(self) -> OnDevice:
        return self

    def clone(self) -> OnDevice:
        return OnDevice(self.value, self.reads)

    def item(self) -> float:
        self.reads.append(self.value)
        return self.value


def test_a_device_is_not_waited_for_before_lines_are_written(tmp_path: Path) -> None:
    path, reads = tmp_path / "m" / "0.jsonl", []
    file, loss = MetricsFile(str(path), 0), OnDevice(1.0, reads)
    for step in (1, 2):
        loss.value = float(step)
        file.note(step, {"loss": loss}, AT)
    assert reads == []
    file.flush()
    assert reads == [1.0, 2.0]
    assert [line["values"]["loss"] for line in lines(path)] == [1.0, 2.0]


def test_a_line_cut_short_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = tmp_path / "m" / "0.jsonl"
    path.parent.mkdir()
    path.write_text('{"step":1,"attem')
    file = MetricsFile(str(path), 1)
    file.note(2, {"loss": 1.0}, AT)
    file.flush()
    assert json.loads(path.read_text().splitlines()[1])["step"] == 2


def test_a_folder_that_cannot_be_written_is_told_once(tmp_path: Path, capsys) -> None:
    path = tmp_path / "is a file"
    path.write_text("")
    file = MetricsFile(f"{path}/0.jsonl", 0)
    for step in range(3):
        file.note(step, {"loss": 1.0}, AT)
        file.flush()
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith("phalanx: metrics are not kept: ")


def test_a_huge_file_gets_only_the_newest_line_of_each_write(tmp_path: Path) -> None:
    path = tmp_path / "m" / "0.jsonl"
    path.parent.mkdir()
    with open(path, "wb") as huge:  # sparse: it takes no space
        huge.truncate(metrics.MOST_BYTES)
    file = MetricsFile(str(path), 0)
    for step in range(1, 6):
        file.note(step, {"loss": 1.0}, AT)
    file.flush()
    tail = path.read_bytes()[metrics.MOST_BYTES :].strip(b"\n").splitlines()
    assert [json.loads(line)["step"] for line in tail] == [5]


@pytest.mark.parametrize(
    ("value", "kept"),
    [(math.nan, None), (math.inf, None), (torch.tensor(math.nan), None), (3, 3.0), ("7", 7.0)],
)
def test_numbers_are_plain_and_fit_into_json(value: object, kept: float | None) -> None:
    assert numbers({"x": value}) == {"x": kept}
