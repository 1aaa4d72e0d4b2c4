from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from phalanx.app import api
from phalanx.app.jobs import load
from phalanx.app.look import look
from phalanx.cli import view
from phalanx.cli.progress import line
from phalanx.state.gang import Beat
from phalanx.words import Phase
from tests.support.made_root import SECOND, MadeRoot, record, running_job


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [
        (0, "0.00s"),
        (250_000_000, "0.25s"),
        (12 * SECOND + 340_000_000, "12.3s"),
        (245 * SECOND, "4m05s"),
        (7380 * SECOND, "2h03m"),
    ],
)
def test_durations(duration_ns: int, text: str) -> None:
    assert view.seconds(duration_ns) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(812, "812 B"), (4096, "4.0 KiB"), (3 << 30, "3.0 GiB"), (5 << 40, "5.0 TiB")],
)
def test_sizes(count: int, text: str) -> None:
    assert view.size(count) == text


def test_a_table_is_as_wide_as_its_words() -> None:
    assert view.table([("A", "B"), ("long", "x")]) == "A     B\nlong  x"


def test_phases_have_colours_that_can_be_taken_off() -> None:
    assert view.phase("Failed") != "Failed"
    assert click.unstyle(view.phase("Failed")) == "Failed"
    assert view.phase("Pending") == click.style("Pending")


def test_the_progress_line(tmp_path: Path) -> None:
    made = MadeRoot(tmp_path / "root")
    running_job(made)
    beat = Beat(0, 0, 1, 100, 200, metrics=(("loss", 1.25),), step_time_ns=SECOND // 2, saving=True)
    made.beat("gpt-1", beat)
    text = line(look(load(made.root, "gpt-1")))
    assert text == (
        "Running  ━━━━━━━━━━━━──────────── 100/200  loss 1.25  50.0s to go  attempt 1  saving"
    )


def test_the_progress_line_of_a_job_that_waits_says_why(tmp_path: Path) -> None:
    made = MadeRoot(tmp_path / "root")
    made.put(record(phase=Phase.RESTARTING, message="killed; trying again in 2 s"))
    text = line(look(load(made.root, "gpt-1")))
    assert text.startswith("Restarting")
    assert text.endswith("attempt 1  killed; trying again in 2 s")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"phase": Phase.PAUSED, "attempt": 0}, "rests at step 40"),
        ({"phase": Phase.FAILED, "attempt": 0}, "step 40 is saved"),
        ({"phase": Phase.RESTARTING, "attempt": 1}, "resumed from step 40"),
        ({"phase": Phase.PAUSED, "attempt": 1}, "resumed from step 40"),
    ],
)
def test_an_attempt_is_only_resumed_by_a_later_one(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    made = MadeRoot(tmp_path / "root")
    made.put(record(**changes))
    text = view.status(api.status_of(load(made.root, "gpt-1")))
    (history,) = [row for row in text.splitlines() if row.startswith("history")]
    assert history.endswith(f"; {says}")
