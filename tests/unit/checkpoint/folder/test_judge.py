"""Whether a checkpoint is complete, on files as frameworks write them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phalanx.checkpoint.folder.judge import Finding, Judge
from phalanx.checkpoint.folder.pickled import needed_files
from phalanx.checkpoint.folder.scan import look_at
from phalanx.checkpoint.folder.units import units_in
from tests.support.watched_writers import KINDS, UNMARKED, Files, prepare

RANKS = 2
MARKED = ("trainer", "torch numbered", "tensors", "dcp", "torch in place")
"""Kinds of one checkpoint each that proves itself."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("dcp")
    prepare(folder, last=2)
    return str(folder)


def put(folder: Path, files: Files, apart_s: int = 1) -> None:
    """Files in this order, so many seconds apart, the last one now."""
    now_s = int(time.time())
    for before, (name, data) in zip(range(len(files) - 1, -1, -1), files.items(), strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        os.utime(folder / name, (now_s, now_s - before * apart_s))


def judged(folder: Path, ranks: int | None = RANKS) -> list[Finding]:
    return [Judge(str(folder), ranks).judge(unit) for unit in units_in(look_at(str(folder)))]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_complete_ones(kind: str, tmp_path: Path, base: str) -> None:
    put(tmp_path, KINDS[kind](2, base))
    findings = judged(tmp_path)
    assert findings
    assert not any(one.problem for one in findings)
    assert all(one.is_proven is (kind not in UNMARKED) for one in findings)
    assert all(one.is_legible for one in findings)


@pytest.mark.parametrize(("kind", "is_proven"), [("dcp", True), ("dcp in place", False)])
def test_files_of_one_time_may_be_of_two_saves_where_one_overwrites_the_other(
    kind: str, is_proven: bool, tmp_path: Path, base: str
) -> None:
    put(tmp_path, KINDS[kind](2, base), apart_s=0)
    assert [(one.problem, one.is_proven) for one in judged(tmp_path)] == [("", is_proven)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(kind=st.sampled_from(MARKED), share=st.floats(0, 1, exclude_max=True))
def test_a_writer_that_stopped_anywhere_has_proved_nothing(
    kind: str, share: float, tmp_path: Path, base: str
) -> None:
    files = KINDS[kind](2, base)
    left = int(share * sum(map(len, files.values())))
    folder = tmp_path / os.urandom(4).hex()
    for name, data in files.items():
        put(folder, {name: data[:left]})
        left -= len(data)
        if left <= 0:
            break
    assert not any(one.is_proven and not one.problem for one in judged(folder))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(kind=st.sampled_from(MARKED), data=st.data())
def test_one_file_missing_or_cut_short(
    kind: str, data: st.DataObject, tmp_path: Path, base: str
) -> None:
    files = dict(KINDS[kind](2, base))
    needed = [n for n in files if not n.endswith(("config.json", "training_args.bin"))]
    name = data.draw(st.sampled_from(needed))
    length = data.draw(st.integers(-1, len(files[name]) - 1))
    content = files.pop(name)
    folder = tmp_path / os.urandom(4).hex()
    folder.mkdir()
    put(folder, {**files, name: content[:length]} if length >= 0 else files)
    if length == -1 and kind == "trainer" and name.endswith("model.safetensors.index.json"):
        return  # shards without an index: other weights may be meant
    assert not any(one.is_proven and not one.problem for one in judged(folder))


def test_a_trainers_folder_waits_for_every_rank(tmp_path: Path, base: str) -> None:
    put(tmp_path, KINDS["trainer"](2, base))
    assert "rng_state of rank 2" in judged(tmp_path, ranks=3)[0].problem
    (finding,) = judged(tmp_path, ranks=None)
    assert not finding.problem
    assert not finding.is_proven  # nobody knows how many there are


def test_weights_alone_are_complete_as_well(tmp_path: Path, base: str) -> None:
    keep = ("model", "config", "training_args", "trainer_state")
    files = {n: d for n, d in KINDS["trainer"](2, base).items() if n.split("/")[1].startswith(keep)}
    put(tmp_path, files)
    assert judged(tmp_path) == [Finding(is_proven=True)]


def test_a_trainers_folder_of_another_step(tmp_path: Path, base: str) -> None:
    put(tmp_path, KINDS["trainer"](2, base))
    (tmp_path / "checkpoint-2").rename(tmp_path / "checkpoint-3")
    assert judged(tmp_path)[0].problem == "trainer_state.json is of step 2"


@pytest.mark.parametrize(
    ("kind", "mark"), [("trainer", "trainer_state.json"), ("dcp", ".metadata")]
)
def test_what_is_newer_than_the_last_file_is_being_written(
    kind: str, mark: str, tmp_path: Path, base: str
) -> None:
    put(tmp_path, KINDS[kind](2, base))
    (last,) = tmp_path.rglob(mark)
    os.utime(last, (1, 1))
    assert f"is newer than {mark}" in judged(tmp_path)[0].problem


def test_lightning_keeps_its_own_file_beside_dcp(tmp_path: Path, base: str) -> None:
    files = {f"step=2.ckpt/{k.split('/')[1]}": v for k, v in KINDS["dcp"](2, base).items()}
    put(tmp_path, files)
    assert "meta.pt is missing" in judged(tmp_path)[0].problem
    put(tmp_path, {"step=2.ckpt/meta.pt": KINDS["torch in place"](2, base)["checkpoint.pt"]})
    assert judged(tmp_path) == [Finding(is_proven=True)]


def test_a_file_that_changed_since_the_look(tmp_path: Path, base: str) -> None:
    put(tmp_path, KINDS["torch in place"](1, base))
    (unit,) = units_in(look_at(str(tmp_path)))
    os.utime(tmp_path / "checkpoint.pt", (1, 1))
    assert Judge(str(tmp_path), 1).judge(unit).problem


def test_files_that_dcp_needs(base: str) -> None:
    files = KINDS["dcp"](2, base)
    needed = needed_files(files["step_2/.metadata"])
    assert {f"step_2/{name}": size for name, size in needed.items()} == {
        name: len(data) for name, data in files.items() if name.endswith(".distcp")
    }


def test_an_index_that_is_no_index(tmp_path: Path, base: str) -> None:
    files = KINDS["trainer"](2, base)
    for text in ("[]", '{"weight_map": 3}', "{}"):
        put(tmp_path, {**files, "checkpoint-2/model.safetensors.index.json": text.encode()})
        state = tmp_path / "checkpoint-2" / "trainer_state.json"
        state.write_text(json.dumps({"global_step": 2}))
        assert judged(tmp_path)[0].problem
