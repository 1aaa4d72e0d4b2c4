"""What a controller holds: a store, a backend, and how patient to be with it."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx.backends.base import Backend
from phalanx.names import Keys
from phalanx.reconcile.decision import Timing
from phalanx.store.store import Store


@dataclass(frozen=True)
class Ports:
    """The outside of one controller of one job."""

    store: Store
    backend: Backend
    timing: Timing
    job: str

    @property
    def keys(self) -> Keys:
        """Keys of the job."""
        return Keys(self.job)
