"""`StatefulDataLoader` of torchdata: its position with the number of its epoch, for the state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class StatefulEpochs:
    """Goes through a StatefulDataLoader epoch by epoch; its state is the batches handed over.

    The loader counts what it gave to the training loop, not what its processes have prefetched, so
    its state needs no correction. What it lacks is the number of the epoch, and an answer before
    it has begun. A `generator` that was given to the loader is seeded anew for each epoch from
    `seed` and its number, so that the orders of later epochs do not hang on a resume. Each rank
    has a state of its own: only as many ranks as saved it can go on.
    """

    def __init__(self, loader: Any, seed: int = 0) -> None:
        self.loader = loader
        self.seed = seed
        self.epoch = 0
        self._has_begun = False

    def epochs(self, count: int) -> Iterator[int]:
        """Numbers of the epochs from the present one on, `count` in all with those before."""
        yield from range(self.epoch, count)

    def __iter__(self) -> Iterator[Any]:
        """Batches from the position to the end of the epoch."""
        set_epoch = getattr(self.loader.sampler, "set_epoch", None)
        if set_epoch is not None:
            set_epoch(self.epoch)
        if self.loader.generator is not None:
            self.loader.generator.manual_seed(hash((self.seed, self.epoch)))
        self._has_begun = True
        yield from self.loader
        self.epoch += 1

    def __len__(self) -> int:
        """Batches of a whole epoch."""
        return len(self.loader)

    def state_dict(self) -> dict[str, Any]:
        """The position; asking for it does not start the loader."""
        state = self.loader.state_dict() if self._has_begun else None
        return {"epoch": self.epoch, "loader": state}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved position."""
        self.epoch = state["epoch"]
        if state["loader"] is not None:
            self.loader.load_state_dict(state["loader"])
            self._has_begun = True
