"""Values of the state that a framework makes later than the checkpoint is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from phalanx.errors import InputError


class Late:
    """Stands in the state for something that is read by `read` and put back by the framework.

    `read` returns a dict of what a checkpoint may hold, an empty one while there is nothing yet.
    With `weights` it stands for a module, which may begin with the weights of another job.
    """

    def __init__(self, read: Callable[[], Mapping[str, Any]], *, weights: bool = False) -> None:
        self._read = read
        self.phalanx_weights = weights
        self.saved: dict[str, Any] = {}
        """What the checkpoint held, until it is taken."""

    def state_dict(self) -> dict[str, Any]:
        """What `read` gives now."""
        return dict(self._read())

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Keep what was saved until it can be put back."""
        self.saved = dict(saved)

    def take(self) -> dict[str, Any]:
        """What was saved, once; it is not held in memory any longer."""
        saved, self.saved = self.saved, {}
        return saved


def once(before: object, what: str) -> None:
    """A second training in one job would write its steps under the names of the first one's.

    Raises `InputError` inside phalanx when there was one `before`.
    """
    if before is not None and os.environ.get("PHALANX_JOB"):
        raise InputError(
            f"{what} begins a second time; a job is one training",
            hint="make a job of each, or one training of both; no auto_find_batch_size",
        )
