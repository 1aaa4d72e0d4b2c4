"""A slow rank in `status`, `why`, what `run` tells, and the ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx.app.api import status_of, why_of
from phalanx.app.events import events
from phalanx.app.jobs import load
from phalanx.app.ledger import Facts, compute
from phalanx.app.look import look
from phalanx.cli import view
from phalanx.state.gang import Beat, LedgerEntry, Pace, World
from phalanx.words import Phase
from tests.support.made_root import SECOND, T0, MadeRoot, ended_job, record, running_job

MS = 1_000_000
SAYS = "rank 1 (slot 1) is slow: 1.5x the median of the others over the last 50 steps"


def entry(slot: int, own_ms: int, **more: object) -> LedgerEntry:
    pace = Pace(slot, 50, own_ms * MS, MS // 10, 200, 200 * own_ms * MS)
    values = {"start_ns": T0, "total_ns": 30 * SECOND, **more}
    return LedgerEntry(slot, slot, 1, paces=(pace,), **values)  # type: ignore[arg-type]


@pytest.fixture
def made(tmp_path: Path) -> MadeRoot:
    return MadeRoot(tmp_path / "root")


def beats(made: MadeRoot, *own_ms: int) -> None:
    for slot, ms in enumerate(own_ms):
        made.beat("gpt-1", Beat(slot, slot, 1, 80, 200, entry=entry(slot, ms)))


def test_it_is_named_while_it_holds_the_others_up(made: MadeRoot) -> None:
    running_job(made)
    beats(made, 20, 20)
    before = look(load(made.root, "gpt-1"))
    assert status_of(before.job)["slow"] == []
    beats(made, 20, 30)
    job = load(made.root, "gpt-1")
    (slow,) = status_of(job)["slow"]
    assert slow == {
        "rank": 1,
        "slot": 1,
        "ratio": 1.5,
        "steps": 50,
        "own_ns": 30 * MS,
        "others_ns": 20 * MS,
        "message": SAYS,
    }
    assert f"slow        {SAYS}" in view.status(status_of(job)).splitlines()
    found = {"where": "attempts/1/beats/1.1", "says": SAYS, "at": None}
    assert why_of(job)["evidence"][-1] == found
    assert events(before, look(job)) == [SAYS]
    assert events(look(job), look(job)) == []


def test_an_ended_job_has_no_slow_rank_but_a_ledger_that_remembers(made: MadeRoot) -> None:
    ended_job(made)
    beats(made, 20, 30)
    assert status_of(load(made.root, "gpt-1"))["slow"] == []
    for slot, ms in enumerate((20, 30)):
        train = {"train_ns": 8 * SECOND, "first_step": 40, "last_step": 200}
        made.entry("gpt-1", entry(slot, ms, **train))
    from phalanx.app.account import ledger_view

    answer = ledger_view(load(made.root, "gpt-1"))
    (slow,) = answer["slow"]
    assert (slow["attempt"], slow["rank"], slow["slot"]) == (1, 1, 1)
    # 160 steps, each 10 ms longer than it had to be, on both slots.
    assert answer["labels"]["degraded"] == 2 * 160 * 10 * MS
    assert answer["labels"]["useful"] == 2 * (8 * SECOND - 160 * 10 * MS)
    assert "slow        attempt 1: rank 1 (slot 1) was slow: 1.5x" in view.ledger(answer)


def test_only_kept_steps_are_degraded() -> None:
    ended = record(phase=Phase.SUCCEEDED, attempt=2, ended_ns=T0 + 60 * SECOND)
    train = {"train_ns": 10 * SECOND, "first_step": 0, "last_step": 100}
    lost = Facts(
        record=ended,
        entries=(entry(0, 20, **train), entry(1, 30, **train)),
        worlds=(World(2, (), "0000000050-1", 50),),
    )
    labels = compute(lost).labels
    assert labels["recomputed"] == 2 * 5 * SECOND
    assert labels["degraded"] == 2 * 50 * 10 * MS
    assert labels["useful"] == 2 * (5 * SECOND - 50 * 10 * MS)


def test_no_more_is_degraded_than_was_useful() -> None:
    ended = record(phase=Phase.SUCCEEDED, ended_ns=T0 + 60 * SECOND)
    train = {"train_ns": SECOND, "last_step": 100}
    labels = compute(
        Facts(record=ended, entries=(entry(0, 20, **train), entry(1, 5000, **train)))
    ).labels
    assert (labels["degraded"], labels["useful"]) == (2 * SECOND, 0)
