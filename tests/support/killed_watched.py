"""Writers of checkpoints of every kind, killed and stopped at random moments while we watch.

    python -m tests.support.killed_watched FOLDER MOMENTS SEED

Every checkpoint that was committed must be one that its writer meant, whole, byte for byte; what
is restored must be exactly that. Prints counts as JSON; `torn` is what is proved to be zero.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from random import Random

from phalanx.checkpoint.commit import Committer
from phalanx.checkpoint.find import read_head
from phalanx.checkpoint.folder.back import Restorer
from phalanx.checkpoint.folder.follow import Follower
from phalanx.checkpoint.folder.readiness import Readiness, Writers
from phalanx.checkpoint.folder.record import FolderIndex, read_index
from phalanx.checkpoint.reading import load_manifest, problems
from phalanx.names import Keys, split_checkpoint_name
from phalanx.state import codec
from phalanx.state.gang import Head
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id
from tests.support.watched_writers import KINDS, LAST, ROLLING, UNMARKED, prepare, write

SETTLE_S = 0.02
"""Many ticks of a file system's clock, as the real one is, and far below a stop's length."""
LIFE_S = 0.12
SAVES = 6
"""Most checkpoints of one life."""


class Trial:
    """One folder, one kind, many lives of its writer."""

    def __init__(self, base: Path, kind: str, chance: Random) -> None:
        self.kind, self.chance, self.base = kind, chance, base
        self.folder = base / "out"
        self.folder.mkdir(parents=True)
        root = base / "root"
        FilesObjects.open(root, make=True)
        # No host is lost here: nothing needs to be durable.
        self.store = Store(FilesObjects(root, sync=lambda fd: None), writer_id())
        self.keys = Keys("watched-1")
        self.readiness = Readiness(SETTLE_S)
        self.number = 0
        self.commits = 0
        self.stops = 0

    def live(self, attempt: int) -> None:
        """One life: restore, write until killed (the first ends well), commit, check."""
        name = self._seal(attempt)
        Restorer(self.store, self.keys, str(self.folder), str(self.base / "stage")).restore(name)
        self._check_folder(name)
        self.number = self._after(name)
        self.readiness.begin()
        who = Committer(attempt, 1)
        follower = Follower(self.store, self.keys, str(self.folder), who, 2)
        follower.readiness = self.readiness
        follower.begin(split_checkpoint_name(name)[0] if name else 0, ())
        ends_well = attempt == 0
        pid = self._fork(saves=2 if ends_well else SAVES)
        try:
            self._follow(follower, pid, ends_well=ends_well)
        except BaseException:
            os.kill(pid, signal.SIGKILL)  # a stopped one would be waited for without end
            raise
        for _ in range(3):
            self._look(follower, Writers(are_alive=False, ended_well=ends_well))
            time.sleep(SETTLE_S / 4)

    def _fork(self, saves: int) -> int:
        seed, first = self.chance.random(), self.number + 1
        pid = os.fork()
        if pid:
            return pid
        code = 1
        try:
            chance = Random(seed)
            for number in range(first, first + saves):
                write(self.kind, self.folder, number, str(self.base.parent), chance)
                time.sleep(chance.choice((0, 0, 0.03)))
            code = 0
        finally:
            os._exit(code)

    def _follow(self, follower: Follower, pid: int, *, ends_well: bool) -> None:
        until = time.monotonic() + self.chance.uniform(0, LIFE_S)
        stop = time.monotonic() + self.chance.uniform(0, LIFE_S)
        go_on = stop + self.chance.uniform(SETTLE_S, 3 * SETTLE_S)
        is_stopped = ends_well
        while True:
            self._look(follower, Writers())
            now = time.monotonic()
            if not is_stopped and now > stop:
                os.kill(pid, signal.SIGSTOP)
                is_stopped, until = True, max(until, go_on + self.chance.uniform(-0.02, 0.02))
                self.stops += 1
            if is_stopped and not ends_well and now > go_on:
                os.kill(pid, signal.SIGCONT)
            if not ends_well and now > until:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return
            if ends_well and os.waitpid(pid, os.WNOHANG)[0]:
                return
            time.sleep(0.002)

    def _look(self, follower: Follower, writers: Writers) -> None:
        sight = follower.look(time.monotonic_ns(), writers)
        assert not sight.refused, sight.refused
        if sight.committed:
            self.commits += 1
            self._check(sight.committed)

    def _seal(self, attempt: int) -> str | None:
        found = self.store.read(self.keys.head)
        head = read_head(self.store, self.keys)
        body = codec.dumps(Head(attempt, head.checkpoint if head else None))
        assert self.store.swap(self.keys.head, body, found.version if found else None)
        return head.checkpoint if head else None

    def _index(self, name: str) -> FolderIndex:
        manifest = load_manifest(self.store, self.keys.checkpoint(name), name)
        return read_index(self.store, self.keys, manifest)

    def _check(self, name: str) -> None:
        """What was committed is what the writer meant, whole."""
        assert problems(self.store, self.keys.checkpoint(name), name) == ()
        held = self._bytes(self._index(name))
        assert self._meant(held) is not None, f"{self.kind}: {name} is torn: {sorted(held)}"

    def _bytes(self, index: FolderIndex) -> dict[str, bytes]:
        folder = self.keys.checkpoint(read_head(self.store, self.keys).checkpoint)
        return {f.name: bytes(self.store.get_blob(f"{folder}/{f.blob}")) for f in index.files}

    def _meant(self, held: Mapping[str, bytes]) -> int | None:
        """The number of the checkpoint that is held; None when its writer meant none like it."""
        numbers = range(min(self.number + SAVES, LAST), 0, -1)
        meant = {number: KINDS[self.kind](number, str(self.base.parent)) for number in numbers}
        copy = "v/checkpoints/last.ckpt"
        for number in numbers:
            if self.kind == "lightning":
                # The copy goes with it, or, after a kill between the two, is an older one.
                name = next(iter(meant[number]))
                copies = [meant[older][copy] for older in range(1, number + 1)]
                if held.get(name) == meant[number][name] and held.get(copy) in (None, *copies):
                    return number
            elif dict(held) == meant[number]:
                return number
        return None

    def _after(self, name: str | None) -> int:
        """The newest number in what was restored."""
        return 0 if name is None else self._meant(self._bytes(self._index(name))) or 0

    def _check_folder(self, name: str | None) -> None:
        """After a restore: the commit byte for byte, older ones whole, nothing newer."""
        there = {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file() and path.suffix != ".tmp"
        }
        held = {} if name is None else self._bytes(self._index(name))
        assert {key: there.get(key) for key in held} == held
        rest = {key: data for key, data in there.items() if key not in held}
        last = self._after(name)
        if self.kind in ROLLING:
            assert not rest, sorted(rest)
        for number in range(1, last):
            for key, data in KINDS[self.kind](number, str(self.base.parent)).items():
                assert rest.pop(key, data) == data
        assert not rest, sorted(rest)


def main(folder: Path, moments: int, seed: int) -> dict[str, int]:
    """`moments` lives that were cut short, kinds in turn; counts of what was done."""
    chance = Random(seed)
    counts = {"moments": 0, "stops": 0, "commits": 0, "torn": 0}
    kinds = list(KINDS)
    prepare(folder)
    at = 0
    while counts["moments"] < moments:
        kind = kinds[(seed + at) % len(kinds)]
        base = folder / f"{at}"
        trial = Trial(base, kind, chance)
        try:
            for attempt in range(6 if kind in UNMARKED else 5):
                trial.live(attempt)
                counts["moments"] += attempt > 0
        except AssertionError as error:
            raise AssertionError(f"{kind}, trial {at}: {error}") from error
        counts["stops"] += trial.stops
        counts["commits"] += trial.commits
        counts[kind] = counts.get(kind, 0) + trial.commits
        shutil.rmtree(base, ignore_errors=True)
        at += 1
    return counts


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
