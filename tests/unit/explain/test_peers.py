"""Layouts without marker and manifest: what the other checkpoints say must be there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from phalanx.explain.explain import explain
from phalanx.explain.reading import Input

HF = {
    "model-00001-of-00002.safetensors": 4096,
    "model-00002-of-00002.safetensors": 4000,
    "model.safetensors.index.json": 90,
    "optimizer.pt": 9000,
    "scheduler.pt": 1064,
    "rng_state.pth": 14244,
    "trainer_state.json": 700,
}
DEEPSPEED = {
    "zero_pp_rank_0_mp_rank_00_optim_states.pt": 9000,
    "zero_pp_rank_1_mp_rank_00_optim_states.pt": 9000,
    "mp_rank_00_model_states.pt": 9000,
}


def without(files: dict[str, int], *names: str) -> dict[str, int]:
    return {name: size for name, size in files.items() if name not in names}


def answer(checkpoints: dict[str, dict[str, int]], **more: Any) -> dict[str, Any]:
    listed = [
        {"path": f"{folder}/{name}".rstrip("/"), "size": size}
        for folder, files in checkpoints.items()
        for name, size in files.items()
    ]
    value = {"root": "/fsx/out", "entries": listed, **more}
    return explain([Input("ckpt.json", json.dumps(value).encode())]).plain()


def refused(given: dict[str, Any]) -> dict[str, str]:
    return {item["name"]: item["because"] for item in given["resume"]["refused"]}


def incomplete(given: dict[str, Any]) -> list[str]:
    return [f["where"] for f in given["findings"] if f["slug"] == "checkpoint-incomplete"]


@pytest.mark.parametrize("name", sorted(HF))
def test_every_single_missing_file_of_a_trainer_is_named(name: str) -> None:
    broken = without(HF, name)
    given = answer({"checkpoint-500": HF, "checkpoint-1000": HF, "checkpoint-1500": broken})
    assert given["resume"]["from"] == "checkpoint-1000"
    assert refused(given) == {"checkpoint-1500": f"missing: {name}"}
    assert incomplete(given) == ["checkpoint-1500"]


def test_the_candidate_is_called_no_more_than_it_is() -> None:
    given = answer({"checkpoint-500": HF, "checkpoint-1000": HF})
    (only,) = given["findings"]
    assert (only["slug"], only["where"]) == ("resume-from", "checkpoint-1000")
    assert "as far as names and sizes tell" in only["message"]
    assert "provably" not in only["message"]


@pytest.mark.parametrize("name", sorted(DEEPSPEED))
def test_every_single_missing_shard_of_deepspeed_is_named(name: str) -> None:
    broken = without(DEEPSPEED, name)
    pair = {"global_step100": DEEPSPEED, "global_step200": broken}
    given = answer(pair, latest="global_step200", world_size=2)
    assert given["resume"]["from"] == "global_step100"
    assert refused(given) == {"global_step200": f"missing: {name}"}
    assert "latest-points-to-incomplete" in {f["slug"] for f in given["findings"]}


def test_a_rank_that_no_checkpoint_has_is_missed_by_the_world_size() -> None:
    half = without(DEEPSPEED, "zero_pp_rank_1_mp_rank_00_optim_states.pt")
    given = answer({"global_step1": half, "global_step2": half}, world_size=2)
    assert given["resume"]["from"] is None
    assert len(refused(given)) == 2


def test_two_broken_ones_do_not_outvote_the_whole_one() -> None:
    broken = without(HF, "optimizer.pt", "trainer_state.json")
    given = answer({"checkpoint-1": HF, "checkpoint-2": broken, "checkpoint-3": broken})
    assert given["resume"]["from"] == "checkpoint-1"


def test_a_shorter_file_is_refused_and_a_growing_history_is_not() -> None:
    later = {**HF, "trainer_state.json": 9000, "scheduler.pt": 1060}
    cut = {**later, "model-00002-of-00002.safetensors": 3999}
    given = answer({"checkpoint-1": HF, "checkpoint-2": later, "checkpoint-3": cut})
    assert given["resume"]["from"] == "checkpoint-2"
    says = "model-00002-of-00002.safetensors has 3999 bytes, other checkpoints have 4000"
    assert refused(given) == {"checkpoint-3": says}


def test_checkpoints_that_are_single_files() -> None:
    given = answer({"step_1.pt": {"": 9000}, "step_2.pt": {"": 9000}, "step_3.pt": {"": 4000}})
    assert given["resume"]["from"] == "step_2.pt"


def test_deepspeed_inside_a_trainer_has_the_step_in_its_names() -> None:
    def of(step: int) -> dict[str, int]:
        inner = {f"global_step{step}/{name}": size for name, size in DEEPSPEED.items()}
        return {**without(HF, "optimizer.pt"), "latest": 14, **inner}

    broken = without(of(30), "global_step30/mp_rank_00_model_states.pt")
    given = answer({f"checkpoint-{n}": of(n) for n in (10, 20)} | {"checkpoint-30": broken})
    assert given["resume"]["from"] == "checkpoint-20"
    assert refused(given) == {"checkpoint-30": "missing: global_step30/mp_rank_00_model_states.pt"}


def test_a_checkpoint_alone_proves_nothing() -> None:
    given = answer({"checkpoint-5": HF})
    assert given["resume"]["from"] is None
    assert incomplete(given) == ["checkpoint-5"]


def test_ranks_of_an_earlier_larger_world_are_not_missed() -> None:
    large = {**HF, **{f"rng_state_{n}.pth": 14000 for n in range(8)}}
    small = {**HF, **{f"rng_state_{n}.pth": 14000 for n in range(4)}}
    given = answer({"checkpoint-1": large, "checkpoint-2": small}, world_size=4)
    assert given["resume"]["from"] == "checkpoint-2"


def test_notes_that_only_one_has_are_not_missed() -> None:
    given = answer({"checkpoint-1": {**HF, "README.md": 5}, "checkpoint-2": HF})
    assert given["resume"]["from"] == "checkpoint-2"
