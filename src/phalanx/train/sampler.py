"""Where training is in its data: counted in samples consumed by all ranks, not drawn by one.

A loader that prefetches has drawn more than the training loop has seen, and another number of
ranks draws other batches. So the position is (epoch, samples that all ranks together consumed of
it): every world size can go on from it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sized
from typing import Any, TypeVar

from phalanx.errors import InputError

Batch = TypeVar("Batch")

TAILS = ("drop", "pad")
"""What becomes of the samples that do not fill the last global batch of an epoch."""


class PositionedSampler:
    """Indices of a map-style dataset for one rank, from a position that can be saved.

    `samples` is the dataset or its length. Each epoch has an order of its own, made from `seed`
    and the number of the epoch alone. Step by step the ranks take neighbouring samples of that
    order: with batches of b, W ranks consume b * W samples that lie next to each other.

    `global_batch` is the number of samples of one optimizer step over all ranks; without it, the
    number of ranks counts as one. `tail="drop"` leaves out the samples at the end of an epoch that
    do not fill a global batch, `"pad"` fills it up with the first ones of the epoch. Both rules
    give the same samples with any number of ranks when `global_batch` is given.

    `rank` and `world_size` are those of the launcher's environment unless given. Raises
    `InputError` for a number that makes no sense.
    """

    def __init__(
        self,
        samples: Sized | int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        global_batch: int | None = None,
        tail: str = "drop",
        world: tuple[int, int] | None = None,
    ) -> None:
        self.samples = samples if isinstance(samples, int) else len(samples)
        self.seed = seed
        self.shuffle = shuffle
        self.global_batch = global_batch
        self.tail = tail
        self.epoch = 0
        self.consumed = 0
        """Samples of this epoch that all ranks together have consumed."""
        if self.samples < 1:
            raise InputError("the dataset is empty")
        if tail not in TAILS:
            raise InputError(f"tail={tail!r} is not understood", hint=f"write {' or '.join(TAILS)}")
        self.set_world(*(world or _world(os.environ)))

    def set_world(self, rank: int, world_size: int) -> None:
        """Go on as `rank` of `world_size`; takes effect with the next iteration.

        Raises `InputError` when the ranks cannot share a global batch equally.
        """
        if not 0 <= rank < world_size:
            raise InputError(f"rank {rank} does not exist among {world_size}")
        if self.global_batch is not None and (
            self.global_batch < 1 or self.global_batch % world_size
        ):
            raise InputError(
                f"{world_size} ranks cannot share a global batch of {self.global_batch} equally",
                hint="give a multiple of every number of ranks, or use SharedSampler",
            )
        self.rank, self.world_size = rank, world_size

    @property
    def left(self) -> int:
        """Samples that all ranks together still have in this epoch."""
        return self._whole(max(0, self.samples - self.consumed))

    def __len__(self) -> int:
        """Samples that this rank has in a whole epoch, wherever it is now."""
        return self._whole(self.samples) // self.world_size

    def _whole(self, samples: int) -> int:
        unit = self.global_batch or self.world_size
        rest = samples % unit
        if not rest:
            return samples
        return samples - rest if self.tail == "drop" else samples + unit - rest

    def __iter__(self) -> Iterator[int]:
        """Indices of this rank from the position to the end of the epoch."""
        first, last = self.consumed, self.consumed + self.left
        return self._indices(self._order(), range(first + self.rank, last, self.world_size))

    def _indices(self, order: Any, places: range) -> Iterator[int]:
        """Indices at `places` of an order that begins again at its end."""
        return (int(order[place % self.samples]) for place in places)

    def _order(self) -> Any:
        if not self.shuffle:
            return range(self.samples)
        # RandomState is the one generator of numpy whose numbers are promised never to change.
        from numpy.random import RandomState

        return RandomState([self.seed, self.epoch]).permutation(self.samples)

    def set_epoch(self, epoch: int) -> None:
        """Go to the beginning of another epoch; the one that is under way goes on."""
        if epoch != self.epoch:
            self.epoch, self.consumed = epoch, 0

    def epochs(self, count: int) -> Iterator[int]:
        """Numbers of the epochs from the present one on, `count` in all with those before."""
        for epoch in range(self.epoch, count):
            self.set_epoch(epoch)
            yield epoch

    def batches(self, loader: Iterable[Batch]) -> Iterator[Batch]:
        """The batches of a DataLoader that has this sampler, each counted when it is handed over.

        Raises `InputError` for a loader whose batches have no fixed size.
        """
        size = getattr(loader, "batch_size", None)
        if not isinstance(size, int):
            raise InputError(
                "the loader has no batch_size, so nobody knows how many samples a batch holds",
                hint="give the DataLoader batch_size=... and sampler=..., or call consume yourself",
            )
        return self.counted(loader, size)

    def counted(self, batches: Iterable[Batch], size: int) -> Iterator[Batch]:
        """Batches of up to `size` samples for each rank, counted when they are handed over.

        The epoch ends with them.
        """
        if self.left:  # a finished epoch does not start the loader: random numbers stay as saved
            for batch in batches:
                self.consume(min(size * self.world_size, self.left))
                yield batch
        self.set_epoch(self.epoch + 1)

    def consume(self, samples: int) -> None:
        """The training loop has taken so many more samples, counted over all ranks."""
        self.consumed += samples

    def state_dict(self) -> dict[str, Any]:
        """The position, equal on all ranks."""
        return {
            "epoch": self.epoch,
            "consumed": self.consumed,
            "seed": self.seed,
            "samples": self.samples,
            "shuffle": self.shuffle,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved position, in the order it was saved in.

        Raises `InputError` when the dataset has another length now.
        """
        if state["samples"] != self.samples:
            raise InputError(
                f"the dataset had {state['samples']} samples when saved and has {self.samples} now",
                hint="resume with the same dataset, or start a new job",
            )
        self.epoch, self.consumed = state["epoch"], state["consumed"]
        self.seed, self.shuffle = state["seed"], state["shuffle"]


def _world(env: Any) -> tuple[int, int]:
    return int(env.get("RANK") or 0), int(env.get("WORLD_SIZE") or 1)
