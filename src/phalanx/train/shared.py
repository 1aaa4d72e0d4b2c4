"""A position for shares: elastic jobs whose ranks split each global batch, evenly or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import Any

from phalanx.train.sampler import Batch, PositionedSampler
from phalanx.train.sharing import Share


class SharedSampler(PositionedSampler):
    """Micro-batches of one rank: the `batch_sampler` of a DataLoader in a job that is elastic.

    Each optimizer step consumes the next `share.global_batch` samples of the epoch's order,
    whatever the number of ranks; a rank gets its share of them in `len(share.micro)` lists of
    indices. A step counts as consumed when its first micro-batch is handed over, so save after
    whole steps, as `Checkpointer.step` does. The rest is as with `PositionedSampler`.
    """

    def __init__(
        self,
        samples: Sized | int,
        share: Share,
        *,
        seed: int = 0,
        shuffle: bool = True,
        tail: str = "drop",
    ) -> None:
        super().__init__(samples, seed=seed, shuffle=shuffle, tail=tail, world=(0, 1))
        self.global_batch = share.global_batch
        self.rank, self.world_size = share.rank, share.world_size
        self.share = share

    def __len__(self) -> int:
        """Micro-batches of this rank in a whole epoch."""
        return self._whole(self.samples) // self.share.global_batch * len(self.share.micro)

    def __iter__(self) -> Iterator[list[int]]:  # type: ignore[override]
        """Micro-batches of this rank from the position to the end of the epoch."""
        return self._micro_batches(self.consumed, self.consumed + self.left, self._order())

    def _micro_batches(self, first: int, last: int, order: Any) -> Iterator[list[int]]:
        for step in range(first, last, self.share.global_batch):
            place = step + self.share.first
            for size in self.share.micro:
                yield list(self._indices(order, range(place, place + size)))
                place += size

    def batches(self, loader: Iterable[Batch]) -> Iterator[Batch]:
        """The micro-batches of a DataLoader with this batch sampler, counted by whole steps."""
        if self.left:
            for number, batch in enumerate(loader):
                if number % len(self.share.micro) == 0:
                    self.consume(self.share.global_batch)
                yield batch
        self.set_epoch(self.epoch + 1)
