"""A departure notice: told to the ranks, answered, declined or overdue, and kept."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from phalanx.agent.departure import Departure, Notice, rebalance, sigterm, spot, stop_save
from phalanx.names import Keys
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.train.notices import Notices
from phalanx.words import FailureClass

SAVED = "0000000012-0"


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    made = [tmp_path / "rank0", tmp_path / "rank1"]
    for folder in made:
        folder.mkdir()
    return [str(folder) for folder in made]


def answer(rank: int, source: str = "SIGTERM", **words: str) -> dict[str, object]:
    return {"rank": rank, "notice": source, **words}


@pytest.mark.parametrize(
    ("notice", "source", "departs", "failure"),
    [
        (sigterm(30), "SIGTERM", True, FailureClass.HOST_LOST),
        (stop_save(30), "stop-save", True, FailureClass.STOPPED_BY_USER),
        (spot(120), "spot", True, FailureClass.SPOT_INTERRUPTION),
        (spot(-5), "spot", True, FailureClass.SPOT_INTERRUPTION),
        (rebalance(), "rebalance", False, FailureClass.SPOT_INTERRUPTION),
    ],
)
def test_every_source_has_one_shape(
    notice: Notice, source: str, departs: bool, failure: FailureClass
) -> None:
    assert (notice.source, notice.departs, notice.failure) == (source, departs, failure)
    if notice.until_ns is not None:
        assert notice.until_ns <= time.monotonic_ns() + 120 * 10**9


def test_ranks_hear_the_deadline_on_their_own_clock(folders: list[str]) -> None:
    notice = spot(120)
    Departure(notice, folders)
    for folder in folders:
        heard = Notices(f"{folder}/notice").open()
        assert heard is not None
        assert (heard.id, heard.until_ns, heard.departs) == ("spot", notice.until_ns, True)


def test_advice_has_no_deadline(folders: list[str]) -> None:
    departure = Departure(rebalance(), folders)
    heard = Notices(f"{folders[0]}/notice").open()
    assert heard is not None
    assert (heard.until_ns, heard.departs) == (0, False)
    departure.expire()
    assert not departure.is_answered


def test_it_is_saved_once_every_rank_of_the_slot_has(folders: list[str]) -> None:
    departure = Departure(sigterm(30), folders)
    departure.take(answer(4, saved=SAVED))
    departure.take(answer(4, saved=SAVED))
    departure.take({"part": SAVED, "rank": 5})
    departure.take(answer(5, "rebalance", saved=SAVED))
    assert not departure.is_answered
    departure.take(answer(5, saved=SAVED))
    assert departure.is_answered
    assert departure.saved == SAVED
    assert SAVED in departure.sentence()


def test_one_rank_that_declines_declines_for_all(folders: list[str]) -> None:
    departure = Departure(sigterm(30), folders)
    departure.take(answer(4, declined="a save takes 900 ms and 500 ms are left"))
    departure.take(answer(5, declined="another reason"))
    assert departure.is_answered
    assert not departure.saved
    assert departure.sentence() == (
        "SIGTERM: declined to save: a save takes 900 ms and 500 ms are left"
    )


@pytest.mark.parametrize(("left_s", "is_over"), [(0.0, True), (0.2, True), (60.0, False)])
def test_past_the_deadline_nobody_waits(folders: list[str], left_s: float, is_over: bool) -> None:
    departure = Departure(sigterm(left_s), folders)
    departure.expire()
    assert departure.is_answered is is_over
    if is_over:
        assert "before the deadline" in departure.sentence()


def test_a_save_that_nobody_commits_in_time_is_told(folders: list[str]) -> None:
    departure = Departure(sigterm(0.0), folders)
    for rank in (4, 5):
        departure.take(answer(rank, saved=SAVED))
    departure.expire(is_committed=False)
    assert SAVED in departure.sentence()
    assert "not committed" in departure.sentence()
    settled = Departure(sigterm(0.0), folders)
    for rank in (4, 5):
        settled.take(answer(rank, saved=SAVED))
    settled.expire(is_committed=True)
    assert not settled.declined


def test_notice_and_outcome_are_kept_once_each(tmp_path: Path, folders: list[str]) -> None:
    (tmp_path / "root").mkdir()
    store = Store(FilesObjects.open(str(tmp_path / "root")), "tests")
    keys = Keys("gpt-1")
    departure = Departure(spot(120), folders)
    departure.keep(store, keys, (1, 2, 3))
    kept = store.read(f"{keys.notices}/spot-1.2-3")
    assert kept is not None
    words = json.loads(kept.data)
    assert (words["source"], words["slot"], words["deadline"]) == ("spot", 1, True)
    assert store.read(f"{keys.notices}/spot-1.2-3.outcome") is None
    for rank in (4, 5):
        departure.take(answer(rank, "spot", saved=SAVED))
    departure.keep(store, keys, (1, 2, 3))
    outcome = store.read(f"{keys.notices}/spot-1.2-3.outcome")
    assert outcome is not None
    assert json.loads(outcome.data) == {"saved": SAVED, "declined": None}


def test_ranks_that_are_gone_already_are_no_error(tmp_path: Path) -> None:
    Departure(sigterm(1), [str(tmp_path / "nowhere")])
