"""A job with a range of nodes: it goes on with fewer, grows back at a commit, and ends whole."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from phalanx.app.submit import submit
from phalanx.names import Keys
from phalanx.state import read
from phalanx.state.record import Record
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.words import Phase
from tests.support.gang import Gang, kill
from tests.support.waiting import until

TRAIN = Path(__file__).parents[1] / "support" / "train_elastic.py"
STEPS, EVERY, BATCH = 160, 5, 14
COMMAND = ["python", "train.py", str(STEPS), "0.03"]
ELASTIC = f"elastic: {{last_call: 1s, grow_after: 1s, global_batch: {BATCH}}}\n"


class Shrinking(Gang):
    """A gang whose controller finds no room when the test says so."""

    controller: subprocess.Popen[bytes]

    def begin(self) -> Shrinking:
        self.job = submit(str(self.file), root=str(self.root), ensure=lambda root, job: None).job
        words = [sys.executable, "-m", "tests.support.scarce_controller", str(self.root), self.job]
        with (self.folder / "controller.log").open("wb") as log:
            self.controller = subprocess.Popen(words, stdout=log, stderr=log)
        return self

    def room(self, slots: int | None) -> None:
        """How many slots can be filled; None for all."""
        file = self.root / "room"
        file.unlink() if slots is None else file.write_text(str(slots))

    def record(self) -> Record:
        found = read.read_record(Store(FilesObjects.open(self.root), "test"), Keys(self.job))
        assert found is not None
        return found.record

    def ranks_now(self) -> int:
        """Ranks of the present world; 0 without one."""
        store, record = Store(FilesObjects.open(self.root), "test"), self.record()
        world = read.read_world(store, Keys(self.job), record.attempt)
        return world.size if world is not None else 0

    def shares(self) -> dict[tuple[int, int], list[tuple[int, ...]]]:
        """(attempt, step) → (rank, world size, first sample, samples) of each rank."""
        found = defaultdict(list)
        for path in self.object("files").glob("steps.*"):
            for line in path.read_text().splitlines():
                words = line.split()
                if len(words) == 9:
                    attempt, step, *share = map(int, words[:6])
                    found[attempt, step].append(tuple(share))
        return found

    def all_losses(self) -> dict[int, set[str]]:
        """step → losses of all its executions."""
        found = defaultdict(set)
        for path in self.object("files").glob("steps.*"):
            for line in path.read_text().splitlines():
                words = line.split()
                if len(words) == 9:
                    found[int(words[1])].add(words[6])
        return found


@pytest.fixture
def shrinking(tmp_path: Path) -> Iterator[Callable[..., Shrinking]]:
    made = []

    def make(extra: str = ELASTIC, **words: object) -> Shrinking:
        words = {"script": TRAIN, "command": COMMAND, "steps": STEPS, "every": EVERY, **words}
        gang = Shrinking(tmp_path, extra=extra, **words)
        text = gang.file.read_text().replace("nodes: 2\n", "nodes: {min: 1, max: 2}\n")
        gang.file.write_text(text)
        made.append(gang)
        return gang

    yield make
    for gang in made:
        gang.controller.kill()
        gang.controller.wait()
        gang.kill_all()


def test_four_ranks_go_on_as_two_and_grow_back(shrinking: Callable[..., Shrinking]) -> None:
    gang = shrinking(ranks=2).begin()
    until(lambda: gang.ranks_now() == 4, 60)
    until(lambda: gang.head() is not None and gang.head().checkpoint is not None, 60)
    gang.room(1)
    kill(gang.agent_pid(1))
    until(lambda: gang.ranks_now() == 2, 60)
    until(lambda: gang.record().reason == "RunningWithFewer", 60)
    said = gang.status()["message"]
    assert said == "running with 1 of 2 nodes: slot 1: no instance has room", said
    gang.room(None)
    until(lambda: gang.ranks_now() == 4, 60)
    assert gang.wait()["phase"] == Phase.SUCCEEDED.value
    history = [past.cause.failure.value for past in gang.record().history]
    assert history == ["Killed", "Resized", "Resized"]
    assert gang.record().counted == 1
    steps = gang.shares()
    assert {step for _, step in steps} == set(range(STEPS))
    sizes = {share[1] for shares in steps.values() for share in shares}
    assert sizes == {2, 4}
    for (_, step), shares in steps.items():
        if len(shares) < shares[0][1]:
            continue  # the attempt ended before every rank had written this step down
        taken = [n for _, _, first, size in sorted(shares) for n in range(first, first + size)]
        assert taken == list(range(step * BATCH, (step + 1) * BATCH))
    for step, losses in gang.all_losses().items():
        assert max(map(float, losses)) - min(map(float, losses)) < 1e-9, step
