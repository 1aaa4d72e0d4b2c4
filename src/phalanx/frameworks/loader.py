"""`PositionedLoader`: a DataLoader that knows which samples the training loop has consumed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

from phalanx.errors import InputError
from phalanx.train.sampler import PositionedSampler


class _Sampler(PositionedSampler, DistributedSampler):
    """Frameworks leave a DistributedSampler in its place and tell it the epoch."""


class PositionedLoader(DataLoader):
    """A DataLoader over a map-style dataset whose position can be saved, with any prefetching.

    `batch_size` is per rank. `order` are the options of `PositionedSampler` (`seed`, `shuffle`,
    `global_batch`, `tail`, `world`), `options` those of `DataLoader`.
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int = 1,
        order: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        if "sampler" in options or "batch_sampler" in options or "shuffle" in options:
            raise InputError(
                "a PositionedLoader has a sampler of its own",
                hint='write order={"shuffle": ...} for the order of the samples',
            )
        sampler = _Sampler(dataset, **(order or {}))
        options.setdefault("generator", torch.Generator())
        super().__init__(dataset, batch_size=batch_size, sampler=sampler, **options)

    def __iter__(self) -> Iterator[Any]:
        """Batches from the position to the end of the epoch."""
        sampler = self.sampler
        # Seeds of worker processes follow the position; the global random numbers stay untouched.
        self.generator.manual_seed(hash((sampler.seed, sampler.epoch, sampler.consumed)))
        batches = super().__iter__() if sampler.left else ()
        counted: Iterator[Any] = sampler.counted(batches, self.batch_size)
        return counted

    def epochs(self, count: int) -> Iterator[int]:
        """Numbers of the epochs from the present one on, `count` in all with those before."""
        numbers: Iterator[int] = self.sampler.epochs(count)
        return numbers

    def set_epoch(self, epoch: int) -> None:
        """Go to the beginning of another epoch; the one that is under way goes on."""
        self.sampler.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """The position, equal on all ranks."""
        state: dict[str, Any] = self.sampler.state_dict()
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved position. Raises `InputError` for another dataset."""
        self.sampler.load_state_dict(state)
