"""Savers that are killed: `python -m tests.support.killed_saves ROOT TRIALS SEED`.

Every trial is one attempt: ranks and an agent are forked, save and commit as fast as they can, and
are killed at random moments. Then the next attempt seals HEAD as a freezer does, and every rank
reads what the seal names. Prints one JSON object of counts; `unreadable`, `wrong` and `lost` (a
commit that was announced and is not there) must be 0.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from phalanx.checkpoint.commit import CommitState
from phalanx.checkpoint.find import choose, names, newest_adoptable
from phalanx.checkpoint.manifest import PER_RANK, Piece, order_of
from phalanx.checkpoint.prune import Rules, prune
from phalanx.errors import CheckpointUnreadable
from phalanx.names import split_checkpoint_name
from phalanx.train.restoring import Checkpoint
from tests.support.saves import Saves

WORLD = 2
LONGEST_S = float(os.environ.get("PHALANX_KILL_WITHIN_S", "0.3"))
"""The first kill comes at a random moment before this."""


def content(step: int, rank: int) -> dict[str, Any]:
    """The state of a rank after a step: all of it follows from the two numbers."""
    chance = np.random.default_rng([step, rank])
    size = int(chance.integers(1, 200_000))
    return {"numbers": chance.standard_normal(size, np.float32), "step": step, "rank": rank}


def is_right(values: dict[str, Any], step: int, rank: int) -> bool:
    expected = content(step, rank)
    told = (values["step"], values["rank"])
    return told == (step, rank) and np.array_equal(values["numbers"], expected["numbers"])


def rank_main(folder: Path, attempt: int, rank: int, first: int) -> None:
    """Save one step after the other, for ever."""
    saves = Saves(folder)
    saver = saves.saver(attempt, rank, WORLD)
    step = first
    while True:
        step += 1
        state = content(step, rank)
        saver.begin(step, state, tuple(Piece(name, PER_RANK) for name in state))


def agent_main(folder: Path, attempt: int, announce: int) -> None:
    """Commit what is whole, and announce each commit, for ever."""
    saves = Saves(folder)
    done: set[str] = set()
    while True:
        for name in reversed(names(saves.store, saves.keys)):
            if name in done or (order_of(name) or (0,))[0] != attempt:
                continue
            outcome = saves.commit(name, attempt, WORLD)
            if outcome.state is CommitState.COMMITTED:
                os.write(announce, f"{name}\n".encode())
            if outcome.state is not CommitState.INCOMPLETE:
                done.add(name)


def forked(work: Any, *args: Any) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            work(*args)
        finally:
            os._exit(70)
    return pid


def trial(folder: Path, attempt: int, first: int, chance: random.Random) -> list[str]:
    """One attempt; returns the announced commits. All its processes are dead afterwards."""
    hear, announce = os.pipe()
    pids = [forked(rank_main, folder, attempt, rank, first) for rank in range(WORLD)]
    pids.append(forked(agent_main, folder, attempt, announce))
    os.close(announce)
    chance.shuffle(pids)
    time.sleep(chance.uniform(0, LONGEST_S))
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        if chance.random() < 0.5:
            time.sleep(chance.uniform(0, 0.02))
    for pid in pids:
        assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
    with os.fdopen(hear) as pipe:
        return pipe.read().split()


def seal_next(saves: Saves, attempt: int) -> str | None:
    """Seal HEAD for an attempt as a freezer does; returns the checkpoint that it keeps."""
    head = saves.head()
    adopted = newest_adoptable(saves.store, saves.keys, head, attempt, ())
    saves.seal(attempt, adopted or choose(saves.store, saves.keys, head, ()).name)
    sealed = saves.head()
    return sealed.checkpoint if sealed else None


def judge(saves: Saves, name: str | None, announced: list[str], counts: Counter[str]) -> int:
    """Read what was kept on every rank; returns its step."""
    order = order_of(name or "") or (-1, 0)
    counts["lost"] += sum((order_of(one) or (0, 0)) > order for one in announced)
    if name is None:
        return 0
    try:
        checkpoint = Checkpoint(saves.store, saves.keys, name)
        for rank in range(WORLD):
            kept = dict.fromkeys(("numbers", "step", "rank"), PER_RANK)
            values = checkpoint.values(kept, rank, WORLD)
            counts["wrong"] += not is_right(values, checkpoint.manifest.step, rank)
    except CheckpointUnreadable as error:
        counts["unreadable"] += 1
        print(f"{name}: {error.message}", file=sys.stderr)
    return (split_checkpoint_name(name) or (0, 0))[0]


def main(root: str, trials: int, seed: int) -> dict[str, int]:
    folder, chance = Path(root), random.Random(seed)
    saves = Saves(folder)
    counts: Counter[str] = Counter(trials=0, unreadable=0, wrong=0, lost=0, commits=0, adopted=0)
    step = 0
    content(0, 0)  # what a rank imports is imported before the forks
    saves.seal(0)
    for attempt in range(trials):
        announced = trial(folder, attempt, step, chance)
        name = seal_next(saves, attempt + 1)
        step = judge(saves, name, announced, counts)
        counts["trials"] += 1
        counts["commits"] += len(announced)
        counts["adopted"] += name is not None and name not in announced and bool(announced)
        prune(saves.store, saves.keys, Rules(keep=2, wait_ns=0), ())
        prune(saves.store, saves.keys, Rules(keep=2, wait_ns=0), ())
    return dict(counts)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
