"""Which jobs `ps` lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx.app.jobs import load_all
from phalanx.app.listing import Wanted, listed, phase_of, since
from phalanx.errors import InputError
from phalanx.words import Phase
from tests.support.made_root import SECOND, T0, MadeRoot, record

DAY = 86400 * SECOND


@pytest.fixture
def made(tmp_path: Path) -> MadeRoot:
    """Six jobs: one a day, the first four ended a minute after they began."""
    made = MadeRoot(tmp_path / "root")
    phases = (Phase.SUCCEEDED, Phase.FAILED, Phase.SUCCEEDED, Phase.STOPPED)
    for n, phase in enumerate(phases):
        at = T0 + n * DAY
        made.put(record(f"gpt-{n + 1}", created_ns=at, phase=phase, ended_ns=at + 60 * SECOND))
    made.put(record("gpt-eval-1", created_ns=T0 + 4 * DAY))
    made.put(record("gpt-10", created_ns=T0 + 5 * DAY, phase=Phase.PENDING))
    return made


def names(made: MadeRoot, wanted: Wanted) -> list[str]:
    return [job.id for job in listed(load_all(made.root)[0], wanted).jobs]


ALL = ["gpt-10", "gpt-eval-1", "gpt-4", "gpt-3", "gpt-2", "gpt-1"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(), ALL),
        (Wanted(names=("gpt",)), ["gpt-10", "gpt-4", "gpt-3", "gpt-2", "gpt-1"]),
        (Wanted(names=("gpt-1",)), ["gpt-1"]),
        (Wanted(names=("*-eval*", "gpt-2")), ["gpt-eval-1", "gpt-2"]),
        (Wanted(phases=(Phase.RUNNING, Phase.FAILED)), ["gpt-eval-1", "gpt-2"]),
        (Wanted(ended=True), ALL[2:]),
        (Wanted(ended=False), ALL[:2]),
        (Wanted(since_ns=T0 + DAY + 60 * SECOND), ALL[:5]),
        (Wanted(since_ns=T0 + 9 * DAY), ALL[:2]),
        (Wanted(limit=2), ALL[:2]),
        (Wanted(ended_limit=1), ALL[:3]),
        (Wanted(ended=True, names=("gpt",), limit=1), ["gpt-4"]),
        (Wanted(names=("GPT",)), []),
    ],
)
def test_every_condition_must_be_met(made: MadeRoot, wanted: Wanted, found: list[str]) -> None:
    assert names(made, wanted) == found


def test_what_only_the_limits_leave_out_is_counted(made: MadeRoot) -> None:
    jobs = load_all(made.root)[0]
    assert listed(jobs, Wanted(limit=2)).left_out == 4
    assert listed(jobs, Wanted(ended_limit=1)).left_out == 3
    assert listed(jobs, Wanted(names=("gpt-1",))).left_out == 0


def test_times_ago_and_dates() -> None:
    now = T0 + 30 * DAY
    assert since("2h", now) == now - 7200 * SECOND
    assert since("1d12h", now) == now - DAY - 43200 * SECOND
    assert since("2026-05-28", now) == 1779926400 * SECOND
    assert since("2026-05-28T09:30", now) == since("2026-05-28 09:30:00Z", now)
    assert since("2026-05-28T09:30", now) == (1779926400 + 9 * 3600 + 1800) * SECOND


@pytest.mark.parametrize("text", ["", "yesterday", "7", "2026-13-01", "2026-05-28T25:00", "-1h"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no time"):
        since(text, T0)


def test_phases_are_named_in_any_case() -> None:
    assert phase_of("running") is phase_of("Running") is Phase.RUNNING
    with pytest.raises(InputError) as refused:
        phase_of("runing")
    assert "did you mean running?" in refused.value.line()
