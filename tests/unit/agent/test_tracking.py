"""What an agent tells ranks of trackers, and what it reads of their pace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from phalanx.agent.accounts import Account
from phalanx.agent.environment import Place, Tracking, rank_environment, tracking
from phalanx.agent.progress import Progress, read_progress
from phalanx.state.gang import Member, Pace, World
from phalanx.train.pace import BLOCK, PaceMeter
from phalanx.train.progress import Progress as Writer
from tests.support.made_root import plan


@pytest.mark.parametrize(
    ("base", "is_wandb"),
    [
        ({}, False),
        ({"WANDB_RESUME": "allow"}, True),
        ({"WANDB_RESUME": "never"}, False),
        ({"WANDB_RESUME": "allow", "WANDB_RUN_ID": "mine"}, False),
    ],
)
def test_wandb_gets_an_id_only_where_the_job_asks(base: dict[str, str], is_wandb: bool) -> None:
    assert tracking(base, "gpt-1-aa") == Tracking("gpt-1-aa", is_wandb)


def variables(is_wandb: bool) -> dict[str, str]:
    members = tuple(Member(slot, 0, 2, "127.0.0.1", 29500, 2) for slot in (0, 1))
    place = Place("gpt-1", "/root", 1, 2, "/files", "/rank", "/agent", Tracking("run-aa", is_wandb))
    return rank_environment(plan(ranks_per_node=2), World(2, members), place, 1)


def test_every_rank_has_a_run_of_its_own() -> None:
    assert variables(False)["PHALANX_RUN_ID"] == "run-aa"
    assert "WANDB_RUN_ID" not in variables(False)
    assert variables(True)["WANDB_RUN_ID"] == "run-aa-r3"


class Still:
    """A clock that stands."""

    def monotonic_ns(self) -> int:
        return 5

    def wall_ns(self) -> int:
        return 5

    def sleep(self, seconds: float) -> None:
        raise AssertionError


def test_a_pace_goes_from_the_rank_into_the_ledger(tmp_path: Path) -> None:
    meter, progress = PaceMeter(3, Still()), Writer(str(tmp_path / "progress"), None)
    progress.show(1)
    assert read_progress(str(tmp_path)).pace is None
    for done in range(1, 2 * BLOCK + 1):
        meter.begin(done * 1000)
        meter.stepped(done, done * 1000 + 250)
    progress.pace = meter.text
    progress.show(2)
    report = read_progress(str(tmp_path))
    assert report.pace == meter.pace == Pace(3, BLOCK, 250, 0, 2 * BLOCK - 3, (2 * BLOCK - 3) * 250)
    account = Account((1, 0, 2), start_ns=1, born_ns=1)
    assert account.entry(9, [Progress(), report]).paces == (meter.pace,)


@pytest.mark.parametrize("pace", [None, 3, [], {}, {"rank": "x"}, {"rank": 1, "own_ns": 1.5}])
def test_a_pace_that_is_none_is_passed_over(tmp_path: Path, pace: object) -> None:
    (tmp_path / "progress").write_text(json.dumps({"step": 4, "pace": pace}))
    report = read_progress(str(tmp_path))
    assert (report.step, report.pace) == (4, None)
