"""A departure notice as a rank hears it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from phalanx.agent.departure import Departure, rebalance, sigterm
from phalanx.train.notices import Notice, Notices


def put(path: Path, text: str) -> None:
    """As the agent does: replaced in one move."""
    path.with_name("new").write_text(text)
    os.replace(path.with_name("new"), path)


def test_nothing_is_heard_before_there_is_something(tmp_path: Path) -> None:
    assert Notices(str(tmp_path / "notice")).open() is None
    assert Notices("").open() is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "5", "{}", '{"id": "spot"}', '{"id":"x","until_ns":"y","departs":true}']
)
def test_what_is_no_notice_is_not_heard_and_the_next_one_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notice"
    notices = Notices(str(path))
    put(path, text)
    assert notices.open() is None
    put(path, '{"id": "spot", "until_ns": 7, "departs": true}')
    assert notices.open() == Notice("spot", 7, True)


def test_each_is_answered_once_and_the_next_is_heard(tmp_path: Path) -> None:
    notices = Notices(str(tmp_path / "notice"))
    Departure(rebalance(), [str(tmp_path)])
    advice = notices.open()
    assert advice == Notice("rebalance", 0, False)
    notices.answered(advice)
    assert notices.open() is None
    notice = sigterm(30)
    Departure(notice, [str(tmp_path)])
    assert notices.open() == Notice("SIGTERM", notice.until_ns or 0, True)


def test_two_notices_at_the_same_time_by_the_file_system(tmp_path: Path) -> None:
    path = tmp_path / "notice"
    notices = Notices(str(path))
    put(path, '{"id": "rebalance", "until_ns": 0, "departs": false}')
    os.utime(path, ns=(5, 5))
    first = notices.open()
    assert first is not None
    path.with_name("new").write_text('{"id": "spot", "until_ns": 9, "departs": true}')
    os.utime(path.with_name("new"), ns=(5, 5))
    os.replace(path.with_name("new"), path)
    assert notices.open() == Notice("spot", 9, True)
