"""Checkpoint listings: other inputs of the kinds that the cases stand for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from phalanx.explain.explain import explain
from phalanx.explain.listing import sort_listing, step_order
from phalanx.explain.reading import Input, load


def entries(name: str, shards: dict[int, int], *more: str, mark: str = "_COMPLETE") -> list[Any]:
    files = [{"path": f"{name}/shard_{n}.bin", "size": size} for n, size in shards.items()]
    files += [{"path": f"{name}/{m}", "size": 9} for m in more]
    return [*files, {"path": f"{name}/{mark}", "size": 0}] if mark else files


def manifest(shards: dict[int, int]) -> dict[str, Any]:
    return {"files": {f"shard_{n}.bin": size for n, size in shards.items()}}


def answer(value: Any) -> dict[str, Any]:
    return explain([Input("ckpt.json", json.dumps(value).encode())]).plain()


def levels(given: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(f["severity"], f["slug"], f["where"]) for f in given["findings"]]


TWO = {0: 100, 1: 100}


def test_steps_are_numbers_not_words() -> None:
    names = ("step_900", "step_1000")
    value = {
        "world_size": 2,
        "entries": [e for n in names for e in entries(n, TWO)],
        "manifests": {n: manifest(TWO) for n in names},
    }
    assert answer(value)["resume"]["from"] == "step_1000"


def test_a_pointer_to_an_incomplete_one_is_not_followed() -> None:
    value = {
        "world_size": 2,
        "entries": [*entries("step_10", TWO), *entries("step_20", {0: 100}, mark="")],
        "manifests": {"step_10": manifest(TWO)},
        "latest": "step_20",
        "multipart_uploads": [{"path": "step_20/shard_1.bin"}],
    }
    given = answer(value)
    assert given["resume"]["from"] == "step_10"
    assert "shard_1.bin" in given["resume"]["refused"][0]["because"]
    assert ("warning", "latest-points-to-incomplete", "latest") in levels(given)


def test_a_missing_file_behind_a_marker_is_a_mismatch() -> None:
    value = {
        "world_size": 2,
        "entries": [*entries("checkpoint-10", TWO), *entries("checkpoint-20", {0: 100})],
        "manifests": {"checkpoint-10": manifest(TWO), "checkpoint-20": manifest(TWO)},
    }
    given = answer(value)
    assert given["resume"]["from"] == "checkpoint-10"
    where = "checkpoint-20/shard_1.bin"
    assert ("error", "checkpoint-manifest-mismatch", where) in levels(given)


def test_a_manifest_without_a_marker_is_not_enough_where_markers_are_used() -> None:
    value = {
        "world_size": 2,
        "entries": [*entries("step_1", TWO), *entries("step_2", TWO, mark="")],
        "manifests": {"step_1": manifest(TWO), "step_2": manifest(TWO)},
    }
    given = answer(value)
    assert given["resume"]["from"] == "step_1"
    assert ("warning", "checkpoint-incomplete", "step_2") in levels(given)


def test_without_manifests_the_marker_and_all_ranks_are_needed() -> None:
    value = {
        "world_size": 4,
        "entries": [
            *entries("global_step1", dict.fromkeys(range(4), 5)),
            *entries("global_step2", dict.fromkeys(range(3), 5)),
        ],
    }
    given = answer(value)
    assert given["resume"]["from"] == "global_step1"
    assert "shard_3.bin" in given["resume"]["refused"][0]["because"]


def test_nothing_complete_is_said() -> None:
    given = answer({"world_size": 2, "entries": entries("step_5", {0: 1}, mark="")})
    assert given["resume"]["from"] is None
    assert "no-complete-checkpoint" in {f["slug"] for f in given["findings"]}


def test_attempts_of_one_writer_are_not_several_publishers() -> None:
    listed = entries("step_2", TWO)
    listed += [{"path": f"tmp-step_1.a{n}/shard_0.bin", "size": 1} for n in (1, 2)]
    given = answer({"world_size": 2, "entries": listed, "manifests": {"step_2": manifest(TWO)}})
    assert {f["severity"] for f in given["findings"]} == {"info"}


def test_several_writers_of_one_step_are() -> None:
    listed = entries("step_2", TWO)
    listed += [{"path": f"step_3.tmp.host{n}/shard_0.bin", "size": 1} for n in (1, 2)]
    given = answer({"world_size": 2, "entries": listed, "manifests": {"step_2": manifest(TWO)}})
    assert ("warning", "multiple-publishers", "step_3.tmp.*") in levels(given)


def test_an_s3_listing_with_a_prefix() -> None:
    listed = [{"Key": f"run/step_3/{name}", "Size": 10} for name in ("shard_0.bin", "shard_1.bin")]
    value = {"Prefix": "run/", "Contents": [*listed, {"Key": "run/step_3/_SUCCESS", "Size": 0}]}
    assert answer(value)["resume"]["from"] == "step_3"


def test_an_old_incomplete_one_is_only_a_note() -> None:
    value = {
        "world_size": 2,
        "entries": [*entries("step_1", {0: 1}, mark=""), *entries("step_2", TWO)],
        "manifests": {"step_2": manifest(TWO)},
    }
    assert {f["severity"] for f in answer(value)["findings"]} == {"info"}


def test_a_digest_that_differs_is_a_mismatch() -> None:
    listed = entries("step_1", TWO)
    listed[0]["sha256"] = "AA"
    wanted = {"files": {"shard_0.bin": {"size": 100, "sha256": "bb"}, "shard_1.bin": 100}}
    given = answer({"world_size": 2, "entries": listed, "manifests": {"step_1": wanted}})
    assert given["resume"]["from"] is None
    assert ("error", "checkpoint-manifest-mismatch", "step_1/shard_0.bin") in levels(given)


def test_an_open_upload_of_a_listed_file_is_one_fault() -> None:
    value = {
        "entries": [*entries("ckpt-1", TWO), *entries("ckpt-2", {0: 100})],
        "manifests": {"ckpt-1": manifest(TWO), "ckpt-2": manifest(TWO)},
        "multipart_uploads": [{"key": "ckpt-2/shard_1.bin"}],
    }
    given = answer(value)
    faults = [f for f in given["findings"] if f["slug"] == "checkpoint-manifest-mismatch"]
    assert [f["where"] for f in faults] == ["ckpt-2/shard_1.bin"]
    assert "upload is not finished" in faults[0]["message"]
    because = "missing: shard_1.bin (upload not finished)"
    assert given["resume"]["refused"] == [{"name": "ckpt-2", "because": because}]


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("step_004000", (4000, 0)),
        ("checkpoint-500", (500, 0)),
        ("global_step12", (12, 0)),
        ("epoch=3-step=700.ckpt", (700, 0)),
        ("model_step_7", (7, 0)),
        ("iter_0000500", (500, 0)),
        ("0000000400-2", (400, 2)),
        ("1000", (1000, 0)),
        ("step_4.bak", None),
        ("footstep7", None),
        ("latest", None),
    ],
)
def test_names_of_checkpoints(name: str, order: tuple[int, int] | None) -> None:
    assert step_order(name) == order


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("tmp-step_3.rank0/a", "tmp-step_3.rank0"),
        ("step_3.tmp/a", "step_3.tmp"),
        (".step_3.tmp.rank1/a", ".step_3.tmp.rank1"),
        ("staging/step_3-rank0/a", "staging/step_3-rank0"),
        ("run/tmp_step_3_rank0/a", "run/tmp_step_3_rank0"),
    ],
)
def test_staging_folders_are_no_checkpoints(path: str, folder: str) -> None:
    value = {"entries": [{"path": path, "size": 1}]}
    listing = sort_listing(load(Input("l.json", json.dumps(value).encode())))
    assert listing.steps == []
    assert [(s.folder, s.target) for s in listing.stagings] == [(folder, "step_3")]
