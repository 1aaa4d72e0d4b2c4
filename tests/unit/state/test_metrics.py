"""Which lines of a metrics file count: each step once, as the surviving attempt reported it."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx.state.metrics import Point, Resumed, parse, point_line, resumed_line, series

T = "2026-12-01T10:00:00.000Z"


def line(step: int, attempt: int, **values: float) -> str:
    return point_line(step, attempt, T, values or {"loss": step + attempt / 10})


def run_of(attempt: int, first: int, last: int) -> list[str]:
    """An attempt's part of the file: resumed from `first`, it did steps up to `last`."""
    steps = range(first + 1, last + 1)
    return [resumed_line(attempt, T, first), *(line(step, attempt) for step in steps)]


def test_steps_that_are_done_again_count_as_the_later_attempt_did_them() -> None:
    found = series([*run_of(0, 0, 55), *run_of(1, 40, 60)])
    assert [p.step for p in found.points] == list(range(1, 61))
    assert [p.attempt for p in found.points] == [0] * 40 + [1] * 20
    assert found.superseded == 15


def test_a_later_fall_back_takes_back_what_two_attempts_did() -> None:
    found = series([*run_of(0, 0, 55), *run_of(1, 40, 60), *run_of(2, 20, 25)])
    assert [(p.step, p.attempt) for p in found.points][-6:] == [
        (20, 0),
        *((step, 2) for step in range(21, 26)),
    ]
    assert len(found.points) == 25


def test_lines_of_a_dead_attempt_that_come_late_do_not_count() -> None:
    late = [*run_of(0, 0, 45), *run_of(1, 40, 42), line(46, 0)]
    assert max(p.step for p in series(late).points) == 42


def test_the_worlds_speak_for_a_rank_that_a_later_attempt_does_without() -> None:
    found = series(run_of(0, 0, 55), {0: 0, 1: 40})
    assert len(found.points) == 40
    assert found.superseded == 15


def test_a_script_that_never_resumes_counts_by_its_last_attempt() -> None:
    again = [line(step, 1) for step in range(1, 11)]
    found = series([*run_of(0, 0, 55), *again], {1: 40})
    assert [p.attempt for p in found.points] == [1] * 10 + [0] * 30


def test_two_reports_of_one_step_are_one_point() -> None:
    found = series([line(5, 0, loss=2.0, rate=0.1), line(5, 0, loss=1.0, accuracy=0.5)])
    (point,) = found.points
    assert point.values == {"loss": 1.0, "rate": 0.1, "accuracy": 0.5}
    assert found.superseded == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"step":3,"att',
        "[]",
        "7",
        "null",
        '{"step":1}',
        '{"step":1,"attempt":0,"time":"","values":[1]}',
        '{"resumed_from":"x","attempt":1}',
        "\x00\x00",
    ],
)
def test_a_line_that_cannot_be_read_is_passed_over(text: str) -> None:
    assert parse(text) is None
    assert len(series([text, line(1, 0), text]).points) == 1


def test_what_json_cannot_hold_is_none() -> None:
    text = point_line(1, 0, T, {"loss": None})
    assert json.loads(text)["values"] == {"loss": None}
    assert parse(text) == Point(1, 0, T, {"loss": None})
    assert parse(resumed_line(2, T, 7)) == Resumed(2, 7)
    with pytest.raises(ValueError, match="JSON"):
        point_line(1, 0, T, {"loss": math.nan})


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=5))
def test_every_step_counts_once_and_as_its_last_survivor(tries: list[tuple[int, int]]) -> None:
    """Each attempt resumes from a step that those before have done, and goes on for some."""
    lines: list[str] = []
    alive: dict[int, int] = {}
    for attempt, (back, more) in enumerate(tries):
        first = min(back, max(alive, default=0))
        alive = {step: by for step, by in alive.items() if step <= first}
        alive.update(dict.fromkeys(range(first + 1, first + more + 1), attempt))
        lines += run_of(attempt, first, first + more)
    assert {p.step: p.attempt for p in series(lines).points} == alive
