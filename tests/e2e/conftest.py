"""Real jobs for the tests of this folder; whatever a failed test leaves behind is killed."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.gang import COUNT, Gang
from tests.support.harm import Losses, undisturbed_losses


@pytest.fixture
def new_gang(tmp_path: Path) -> Iterator[Callable[..., Gang]]:
    """Make a job; `Gang`'s arguments. The first one's folder is the test's own."""
    made: list[Gang] = []

    def make(folder: Path = tmp_path, **words: Any) -> Gang:
        made.append(Gang(folder / f"gang{len(made)}", **words))
        return made[-1]

    yield make
    for gang in made:
        gang.kill_all()


@pytest.fixture
def counting(new_gang: Callable[..., Gang]) -> Callable[..., Gang]:
    """Make a job of the script that counts without torch."""
    return lambda **words: new_gang(script=COUNT, **words)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Losses:
    """Losses of the four-rank job when nothing happens to it; run once for all test processes."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    with open(shared / "undisturbed.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = shared / "undisturbed.json"
        if not kept.exists():
            kept.write_text(json.dumps(undisturbed_losses(shared / "undisturbed")))
    found = json.loads(kept.read_text())
    return {int(rank): {int(s): x for s, x in steps.items()} for rank, steps in found.items()}
