"""A controller whose target has room for some slots only: `python -m ... ROOT JOB`.

The file `<root>/room` holds the number of slots that can be filled; without it there is room for
all. The controller's beat is kept fresh beside its work, so that nobody starts another.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from phalanx.backends.base import Request
from phalanx.backends.local.backend import LocalBackend
from phalanx.controller.beat import write_beat
from phalanx.controller.loop import run
from phalanx.controller.ports import Ports
from phalanx.errors import NoCapacity
from phalanx.names import Keys
from phalanx.reconcile.decision import Timing
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id


class ScarceBackend(LocalBackend):
    """The local backend, on a machine that may be full."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.room = root / "room"

    def launch(self, request: Request) -> None:
        """Refused when there is no room for the slot."""
        if self.room.exists() and request.slot >= int(self.room.read_text()):
            raise NoCapacity("no instance has room")
        super().launch(request)


def main(root: Path, job: str) -> int:
    """Drive the job to its end."""
    writer, is_over = writer_id(), threading.Event()
    store = Store(FilesObjects.open(root), writer)

    def beat() -> None:
        mine = Store(FilesObjects.open(root), writer_id())
        while not is_over.wait(0.3):
            write_beat(mine, Keys(job), writer)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        return run(Ports(store, ScarceBackend(root), Timing(), job), writer)
    finally:
        is_over.set()
        thread.join()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
