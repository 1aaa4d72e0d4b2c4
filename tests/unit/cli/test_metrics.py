"""`phalanx metrics` for people."""

from __future__ import annotations

import json

from phalanx.cli.view_metrics import BARS, WIDTH, course
from phalanx.names import Keys
from phalanx.state.metrics import point_line
from tests.support.made_root import ended_job

T = "2026-12-01T10:00:00.000Z"


def keep(made, *lines):
    path = made.path / Keys("gpt-1").metrics_file(0)
    path.parent.mkdir()
    path.write_text("".join(f"{line}\n" for line in lines))


def losses(attempt, steps):
    return [point_line(step, attempt, T, {"loss": 200 - step}) for step in steps]


def test_a_line_a_metric_and_a_line_a_step(phalanx, made):
    ended_job(made)
    odd = point_line(50, 1, T, {"loss": None})
    keep(made, *losses(0, range(1, 56)), *losses(1, range(41, 50)), odd)
    answer = phalanx("metrics", "gpt")
    head, names, loss = answer.out.splitlines()
    assert head == "gpt-1 rank 0: 50 points, steps 1 to 50, 15 superseded by steps done again"
    assert names.split() == ["METRIC", "FIRST", "LAST", "LEAST", "MOST", "COURSE"]
    assert loss.split()[:5] == ["loss", "199", "nan", "151", "199"]
    assert loss.split()[5][0] == BARS[-1]
    assert answer.err == "gpt means gpt-1\n"
    answer = phalanx("metrics", "gpt-1", "--name", "loss", "--tail", "2")
    assert [line.split() for line in answer.out.splitlines()[1:]] == [
        ["STEP", "ATTEMPT", "AT", "LOSS"],
        ["49", "1", T, "151"],
        ["50", "1", T, "nan"],
    ]
    view = json.loads(phalanx("metrics", "gpt-1", "--json").out)
    assert view["points"][-1]["values"] == {"loss": None}


def test_nothing_reported_is_no_error_and_a_wrong_word_is(phalanx, made):
    ended_job(made)
    assert phalanx("metrics", "gpt-1").out == "gpt-1: no metrics were reported yet\n"
    for words in (("--rank", "7"), ("--rank", "-1"), ("--name", "x"), ("--tail", "x")):
        answer = phalanx("metrics", "gpt-1", *words)
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)


def test_a_course_is_as_wide_as_it_needs_to_be():
    assert course([]) == ""
    assert course([5.0]) == BARS[0]
    assert course([0.0, 7.0]) == BARS[0] + BARS[-1]
    assert course([float(n) for n in range(8)]) == BARS
    assert len(course([float(n % 7) for n in range(1000)])) == WIDTH
