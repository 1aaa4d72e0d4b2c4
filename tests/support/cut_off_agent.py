"""An agent as `python -m phalanx.agent`, whose root fails while the file `argv[1]` exists.

When that file says `block`, whoever touches the root waits for ever.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from phalanx.agent.loop import Agent
from phalanx.agent.seat import read_place
from phalanx.errors import StoreUnavailable
from phalanx.store.base import Found
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id

T = TypeVar("T")


class CutOff(FilesObjects):
    """Fails like a mount whose server is away."""

    cut: Path

    def get(self, key: str) -> Found | None:
        return self._unless_cut(lambda: super(CutOff, self).get(key))

    def put_new(self, key: str, data: bytes) -> None:
        self._unless_cut(lambda: super(CutOff, self).put_new(key, data))

    def list(self, prefix: str) -> tuple[str, ...]:
        return self._unless_cut(lambda: super(CutOff, self).list(prefix))

    def beat(self, key: str, data: bytes) -> None:
        self._unless_cut(lambda: super(CutOff, self).beat(key, data))

    def _unless_cut(self, act: Callable[[], T]) -> T:
        if self.cut.exists():
            while self.cut.read_text() == "block":
                time.sleep(3600)
            raise StoreUnavailable("the root is cut off")
        return act()


if __name__ == "__main__":
    place = read_place(os.environ)
    objects = CutOff(place.root)
    objects.cut = Path(sys.argv[1])
    sys.exit(Agent(place, Store(objects, writer_id()), lambda: None).run())
