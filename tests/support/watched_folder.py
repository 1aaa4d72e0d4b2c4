"""One watched folder for tests, with a clock that the test moves on."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from phalanx.checkpoint.commit import Committer
from phalanx.checkpoint.find import read_head
from phalanx.checkpoint.folder.back import Restored, Restorer
from phalanx.checkpoint.folder.follow import Follower, Sight
from phalanx.checkpoint.folder.readiness import Readiness, Writers
from phalanx.checkpoint.folder.record import FolderIndex, Known, read_index
from phalanx.checkpoint.reading import load_manifest
from phalanx.names import Keys
from phalanx.state import codec
from phalanx.state.gang import Head
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id
from tests.support.waiting import until

ALIVE = Writers()
KILLED = Writers(are_alive=False)
ENDED = Writers(are_alive=False, ended_well=True)


class Meddled(FilesObjects):
    """A root that tells when a blob is about to be written, and when it was."""

    meddle: Callable[[str], None] | None = None
    meddle_at = ""
    """End of the key after which it is told; small files are copied in no order."""

    def put_loose(self, key, chunks):  # type: ignore[no-untyped-def]
        written = super().put_loose(key, chunks)
        if self.meddle is not None and key.endswith(self.meddle_at):
            meddle, self.meddle = self.meddle, None
            meddle(key)
        return written


class WatchedFolder:
    """`out` below a folder, followed for one attempt after the other."""

    def __init__(self, base: Path, ranks: int | None = 2) -> None:
        self.base, self.ranks = base, ranks
        self.out = base / "out"
        self.out.mkdir()
        FilesObjects.open(base / "root", make=True)
        self.objects = Meddled(base / "root", sync=lambda fd: None)
        self.store = Store(self.objects, writer_id())
        self.keys = Keys("watched-1")
        self.readiness = Readiness()
        self.now_s = 100.0
        self.attempt = -1
        self.open()

    def open(self, shipped: tuple[Known, ...] = ()) -> Restored:
        """The next attempt: seal, restore, follow."""
        self.attempt += 1
        name = self.head()
        found = self.store.read(self.keys.head)
        body = codec.dumps(Head(self.attempt, name))
        assert self.store.swap(self.keys.head, body, found.version if found else None)
        stage = str(self.base / "stage")
        restored = Restorer(self.store, self.keys, str(self.out), stage).restore(name, shipped)
        assert not os.path.exists(stage)
        self.readiness.begin()
        who = Committer(self.attempt, 1)
        self.follower = Follower(self.store, self.keys, str(self.out), who, self.ranks)
        self.follower.readiness = self.readiness
        self.follower.begin(int(name.split("-")[0]) if name else 0, shipped)
        return restored

    def head(self) -> str | None:
        """What is committed."""
        head = read_head(self.store, self.keys)
        return head.checkpoint if head else None

    def write(self, **files: bytes) -> None:
        """Files by name; `__` stands for `/`."""
        self.put({name.replace("__", "/"): data for name, data in files.items()})

    def put(self, files: dict[str, bytes]) -> None:
        """Files by name, in this order, each at a time later than all before."""
        tick = self.base / "tick"
        for name, data in files.items():
            tick.touch()
            first_ns = tick.stat().st_mtime_ns
            until(lambda: (tick.touch(), tick.stat().st_mtime_ns > first_ns)[1])  # noqa: B023
            (self.out / name).parent.mkdir(parents=True, exist_ok=True)
            (self.out / name).write_bytes(data)

    def look(self, after_s: float = 0.0, writers: Writers = ALIVE) -> Sight:
        """One look, some time later."""
        self.now_s += after_s
        return self.follower.look(int(self.now_s * 1e9), writers)

    def settle(self, writers: Writers = ALIVE) -> Sight:
        """A look at what is there, and one after it has settled."""
        sight = self.look(0.01, writers)
        return sight if sight.committed else self.look(0.5, writers)

    def index(self, name: str) -> FolderIndex:
        """What a checkpoint says of itself."""
        manifest = load_manifest(self.store, self.keys.checkpoint(name), name)
        return read_index(self.store, self.keys, manifest)

    def held(self, name: str) -> dict[str, bytes]:
        """Files of a checkpoint."""
        folder = self.keys.checkpoint(name)
        blobs = {f.name: self.store.get_blob(f"{folder}/{f.blob}") for f in self.index(name).files}
        return {name: bytes(blob) for name, blob in blobs.items() if blob is not None}

    def there(self) -> dict[str, bytes]:
        """Files in the folder."""
        return {
            str(path.relative_to(self.out)): path.read_bytes()
            for path in sorted(self.out.rglob("*"))
            if path.is_file()
        }
