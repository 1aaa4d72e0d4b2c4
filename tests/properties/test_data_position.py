"""No sample twice and none never: kills at any step, other world sizes, uneven tails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from phalanx.train import PositionedSampler, SharedSampler, share

EPOCHS = 2


class Eager:
    """A loader that has drawn the whole epoch before it hands over its first batch."""

    def __init__(self, sampler: PositionedSampler, batch_size: int) -> None:
        self.sampler = sampler
        self.batch_size = batch_size

    def __iter__(self) -> Iterator[list[int]]:
        drawn = list(self.sampler)
        return iter(
            [drawn[at : at + self.batch_size] for at in range(0, len(drawn), self.batch_size)]
        )


class Life:
    """One attempt: the ranks of a world go on in lockstep from one saved position."""

    def __init__(self, saved: dict[str, Any] | None, world: int, batch: int, rules: Any) -> None:
        self.samplers = [PositionedSampler(world=(rank, world), **rules) for rank in range(world)]
        for sampler in self.samplers:
            if saved is not None:
                sampler.load_state_dict(saved)
        self.loops = [self.loop(sampler, batch) for sampler in self.samplers]

    @staticmethod
    def loop(sampler: PositionedSampler, batch: int) -> Iterator[tuple[int, list[int]]]:
        for epoch in sampler.epochs(EPOCHS):
            for indices in sampler.batches(Eager(sampler, batch)):
                yield epoch, indices

    def step(self) -> tuple[int, list[int]] | None:
        """(epoch, samples of all ranks); None when training has ended, on all ranks alike."""
        steps = [next(loop, None) for loop in self.loops]
        if any(step is None for step in steps):
            assert steps == [None] * len(steps)
            return None
        epochs = {epoch for epoch, _ in steps if steps}  # type: ignore[misc]
        sizes = {len(indices) for _, indices in steps}  # type: ignore[misc]
        assert len(epochs) == len(sizes) == 1
        return epochs.pop(), [index for _, indices in steps for index in indices]  # type: ignore[misc]

    def saved(self) -> dict[str, Any]:
        states = [sampler.state_dict() for sampler in self.samplers]
        assert all(state == states[0] for state in states)
        return states[0]


lives = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3, 4]),  # world size
        st.integers(1, 3),  # batch of a rank, where no global batch holds it
        st.integers(0, 5),  # steps up to the last save
        st.integers(0, 3),  # steps that a kill takes
    ),
    max_size=4,
)


def history(lives: list[Any], samples: int, **rules: Any) -> list[list[list[int]]]:
    """Samples of the steps that survive into the final model, for each epoch."""
    seen: list[list[list[int]]] = [[] for _ in range(EPOCHS)]
    saved: dict[str, Any] | None = None
    for world, batch, kept, lost in [*lives, (2, 1, 10_000, 0)]:
        size = rules["global_batch"] // world if "global_batch" in rules else batch
        life = Life(saved, world, size, {"samples": samples, **rules})
        for epoch, indices in islice(iter(life.step, None), kept):
            seen[epoch].append(sorted(indices))
        saved = life.saved()
        for _ in range(lost):
            life.step()
    return seen


def counted(epoch: list[list[int]]) -> Counter[int]:
    return Counter(index for step in epoch for index in step)


def shared_history(
    lives: list[Any], samples: int, micro_batch: int | None, **rules: Any
) -> list[list[list[int]]]:
    """As `history`, for ranks that take shares of a global batch of 12 in micro-steps."""
    seen: list[list[list[int]]] = [[] for _ in range(EPOCHS)]
    saved: dict[str, Any] | None = None
    for world, _, kept, lost in [*lives, (2, 1, 10_000, 0)]:
        env = {"WORLD_SIZE": str(world)}
        shares = [share(12, micro_batch, env={**env, "RANK": str(r)}) for r in range(world)]
        samplers = [SharedSampler(samples, each, **rules) for each in shares]
        for sampler in samplers:
            if saved is not None:
                sampler.load_state_dict(saved)
        loops = [micro_steps(sampler) for sampler in samplers]
        for number in range(kept + lost):
            each = [next(loop, None) for loop in loops]
            if each[0] is None:
                assert each == [None] * world
                break
            if number < kept:
                epoch, _ = each[0]
                seen[epoch].append(sorted(i for step in each if step for i in step[1]))
            if number == kept - 1:
                saved = samplers[0].state_dict()
        if kept and each[0] is None and number < kept:
            saved = samplers[0].state_dict()
    return seen


def micro_steps(sampler: SharedSampler) -> Iterator[tuple[int, list[int]]]:
    """(epoch, samples of this rank) of each optimizer step; all micro-batches drawn ahead."""
    for epoch in sampler.epochs(EPOCHS):
        batches = sampler.batches(list(sampler))
        while step := list(islice(batches, len(sampler.share.micro))):
            yield epoch, [index for batch in step for index in batch]


sizes = st.integers(1, 60)
rules = st.fixed_dictionaries({"shuffle": st.booleans(), "seed": st.integers(0, 5)})


@given(sizes, lives, rules, st.sampled_from(["drop", "pad"]))
def test_with_a_global_batch_any_number_of_ranks_makes_the_same_steps(
    samples: int, lives: list[Any], rules: dict[str, Any], tail: str
) -> None:
    calm = history([], samples, global_batch=12, tail=tail, **rules)
    assert history(lives, samples, global_batch=12, tail=tail, **rules) == calm
    rest = samples % 12
    for epoch in calm:
        times = counted(epoch)
        if tail == "drop":
            assert len(times) == times.total() == samples - rest
        else:
            assert len(times) == samples
            assert times.total() == samples + (12 - rest if rest else 0)


@given(
    sizes, lives, rules, st.sampled_from(["drop", "pad"]), st.none() | st.sampled_from([2, 3, 5])
)
def test_shares_of_any_number_of_ranks_make_the_same_steps(
    samples: int, lives: list[Any], rules: dict[str, Any], tail: str, micro_batch: int | None
) -> None:
    calm = history([], samples, global_batch=12, tail=tail, **rules)
    uneven = [(5 if world == 3 else world, *rest) for world, *rest in lives]
    assert shared_history(uneven, samples, micro_batch, tail=tail, **rules) == calm


@given(sizes, lives, rules)
def test_dropping_leaves_out_less_than_one_sample_a_rank(
    samples: int, lives: list[Any], rules: dict[str, Any]
) -> None:
    for epoch in history(lives, samples, **rules):
        times = counted(epoch)
        assert set(times.values()) <= {1}
        assert samples - len(times) < 4


@given(sizes, lives, rules)
def test_padding_repeats_less_than_one_sample_a_rank(
    samples: int, lives: list[Any], rules: dict[str, Any]
) -> None:
    for epoch in history(lives, samples, tail="pad", **rules):
        times = counted(epoch)
        assert len(times) == samples
        assert times.total() - samples < 4


@given(st.integers(20, 60), st.integers(0, 5))
def test_epochs_have_orders_of_their_own(samples: int, seed: int) -> None:
    first, second = history([], samples, seed=seed)
    assert first != second
    assert history([], samples, seed=seed + 1)[0] != first
