"""The estimate of memory against what torch counts, in two real processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from phalanx.plan.memory import Group, activation_bytes, groups_of, serving_bytes, sharded, state
from phalanx.plan.workload import ModelNeed
from tests.support.model_memory import (
    BATCH,
    FORMS,
    MODELS,
    OPTIMIZERS,
    RANKS,
    TOKENS,
    groups,
)

ROOT = Path(__file__).parents[3]


def measured_in(folder: str) -> dict[str, dict[str, int]]:
    """Bytes of one rank (the larger of both) for each model and form."""
    out = str(Path(folder) / "counts.json")
    command = [sys.executable, "-m", "tests.support.model_memory"]
    ranks = [
        subprocess.Popen([*command, str(rank), folder, out], cwd=ROOT) for rank in range(RANKS)
    ]
    try:
        codes = [rank.wait(timeout=240) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    assert codes == [0] * RANKS
    first, *others = json.loads(Path(out).read_text("utf-8"))
    return {
        place: {part: max(counts[part], *(o[place][part] for o in others)) for part in counts}
        for place, counts in first.items()
    }


def estimated(name: str, form: str) -> dict[str, float]:
    """What the planner says of one rank; activations only where it has a formula."""
    kept = [Group(count, float(each)) for each, count in groups(name).items()]
    part = sharded(state(kept, OPTIMIZERS[name]), form, RANKS)
    made = {
        "parameters": part.parameters,
        "gradients": part.gradients,
        "optimizer": part.optimizer,
    }
    if name in ("transformer", "tied"):
        model = ModelNeed(
            parameters=1, layers=2, hidden=64, vocabulary=1000, precision="fp32", sequence=TOKENS,
            micro_batch=BATCH,
        )  # fmt: skip
        made["activations"] = activation_bytes(model, recompute=False) or 0.0
    return made


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, int]]:
    return measured_in(str(tmp_path_factory.mktemp("memory")))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODELS)
def test_state_is_within_a_tenth_of_what_torch_counts(
    name: str, form: str, counted: dict[str, dict[str, int]], record_property
) -> None:
    real, guess = counted[f"{name}/{form}"], estimated(name, form)
    parts = ("parameters", "gradients", "optimizer")
    for part in parts:
        assert real[part] > 0
        assert guess[part] == pytest.approx(real[part], rel=0.10), part
    assert sum(guess[p] for p in parts) == pytest.approx(sum(real[p] for p in parts), rel=0.10)
    record_property("activations_measured", real["activations"])
    record_property("activations_estimated", guess.get("activations"))


def test_sharding_really_halves_what_a_rank_holds(counted: dict[str, dict[str, int]]) -> None:
    whole, half = counted["mlp/ddp"], counted["mlp/fsdp"]
    for part in ("parameters", "gradients", "optimizer"):
        assert half[part] == pytest.approx(whole[part] / RANKS, rel=0.02)


@pytest.mark.parametrize(
    ("strategy", "parts"),
    [
        ("ddp", (4, 4, 8)),
        ("zero1", (4, 4, 1)),
        ("zero2", (4, 0.5, 1)),
        ("fsdp", (0.5, 0.5, 1)),
    ],
)
def test_zero_stages_divide_one_part_after_the_other(
    strategy: str, parts: tuple[float, float, float]
) -> None:
    part = sharded(state([Group(1.0, 4.0)], "adamw"), strategy, 8)
    assert (part.parameters, part.gradients, part.optimizer) == parts


def test_adapters_leave_the_frozen_model_without_gradients() -> None:
    full = state(groups_of(ModelNeed(parameters=10**9)), "adamw")
    lora = state(groups_of(ModelNeed(parameters=10**9, tuning="lora")), "adamw")
    assert full.total == 16e9
    assert lora.parameters == pytest.approx(2.04e9)
    assert lora.gradients + lora.optimizer == pytest.approx(0.12e9)


def test_recomputation_and_tensor_parallelism_shrink_activations() -> None:
    model = ModelNeed(parameters=7 * 10**9, layers=32, hidden=4096, vocabulary=32000)
    whole = activation_bytes(model, recompute=False)
    recomputed = activation_bytes(model, recompute=True)
    assert whole is not None
    assert recomputed is not None
    assert recomputed < whole / 3
    assert activation_bytes(model, recompute=False, tensor=8) == pytest.approx(whole / 8)
    assert activation_bytes(ModelNeed(parameters=10, family="cnn"), recompute=False) is None


def test_grouped_keys_make_the_cache_smaller() -> None:
    model = ModelNeed(parameters=8 * 10**9, layers=32, hidden=4096, precision="bf16")
    grouped = ModelNeed(
        parameters=8 * 10**9, layers=32, hidden=4096, precision="bf16", kv_share=0.25
    )
    assert serving_bytes(grouped, 8) < serving_bytes(model, 8)
    assert serving_bytes(ModelNeed(parameters=10**9, precision="int4"), 8) == pytest.approx(0.6e9)
