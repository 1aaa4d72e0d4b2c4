"""The share of one rank: every sample of every step once, whatever the world size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx.errors import InputError
from phalanx.train import Share, share


def shares(world_size: int, batch: int, micro: int | None = None) -> list[Share]:
    sizes = {"WORLD_SIZE": str(world_size)}
    return [share(batch, micro, env={**sizes, "RANK": str(n)}) for n in range(world_size)]


@given(world_size=st.integers(1, 9), extra=st.integers(0, 60), step=st.integers(0, 3))
def test_a_step_takes_the_same_samples_on_any_world(world_size: int, extra: int, step: int) -> None:
    batch = world_size + extra
    taken = [n for one in shares(world_size, batch) for n in one.samples(step)]
    assert taken == list(range(step * batch, (step + 1) * batch))


@given(world_size=st.integers(1, 9), extra=st.integers(0, 60), micro=st.integers(2, 9))
def test_micro_steps_are_as_many_on_every_rank_and_none_is_empty(
    world_size: int, extra: int, micro: int
) -> None:
    made = shares(world_size, world_size + extra, micro)
    assert len({len(one.micro) for one in made}) == 1
    for one in made:
        assert sum(one.micro) == one.size
        assert all(1 <= n <= micro for n in one.micro)


@given(world_size=st.integers(1, 9), extra=st.integers(0, 60))
def test_weights_make_the_mean_over_ranks_the_mean_over_samples(
    world_size: int, extra: int
) -> None:
    batch = world_size + extra
    losses = [float(n * n % 17) for n in range(batch)]
    over_ranks = 0.0
    for one in shares(world_size, batch, 4):
        samples, at = one.samples(0), 0
        for size, weight in zip(one.micro, one.weights, strict=True):
            mean = sum(losses[n] for n in samples[at : at + size]) / size
            over_ranks += weight * mean / world_size
            at += size
    assert over_ranks == pytest.approx(sum(losses) / batch)


def test_the_first_ranks_take_one_more() -> None:
    assert [one.size for one in shares(4, 14)] == [4, 4, 3, 3]
    assert shares(4, 14, 3)[0].micro == (2, 2)
    assert shares(4, 14, 3)[3].micro == (2, 1)


def test_the_job_file_names_the_batch_and_outside_phalanx_there_is_one_rank() -> None:
    assert share(env={"PHALANX_GLOBAL_BATCH": "12"}).size == 12
    assert share(8, env={"PHALANX_GLOBAL_BATCH": "12"}).size == 8


@pytest.mark.parametrize(
    ("batch", "micro", "env", "says"),
    [
        (None, None, {}, "share needs a global batch"),
        (8, 0, {}, "micro_batch 0 is not at least 1"),
        (3, None, {"WORLD_SIZE": "4"}, "4 ranks cannot share a global batch of 3"),
        (5, 1, {"WORLD_SIZE": "4"}, "a rank would have an empty one"),
        (
            6,
            None,
            {
                "WORLD_SIZE": "4",
                "LOCAL_WORLD_SIZE": "2",
                "PHALANX_MIN_WORLD_SIZE": "4",
                "PHALANX_MAX_WORLD_SIZE": "8",
            },
            "8 ranks cannot share a global batch of 6",
        ),
    ],
)
def test_what_cannot_be_shared_is_refused_at_the_start(
    batch: int | None, micro: int | None, env: dict[str, str], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        share(batch, micro, env=env)
