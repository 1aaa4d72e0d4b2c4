"""When a rank that stands still counts as hung."""

from __future__ import annotations

import pytest

from phalanx.agent.progress import Progress
from phalanx.agent.stall import FACTOR, SHORTEST_S, WARM_UP_STEPS, Stall, StallWatch
from phalanx.clock import SECOND_NS

PATIENCE_S = 1800.0
START_S = 1000.0


def at(seconds: float) -> int:
    return int((START_S + seconds) * SECOND_NS)


def report(step: int, seconds: float, **words: object) -> Progress:
    return Progress(step=step, at_ns=at(seconds), **words)  # type: ignore[arg-type]


def watch(after_s: float | None = 3.0, first_step: int = 0) -> StallWatch:
    made = StallWatch(after_s, PATIENCE_S)
    made.begin(first_step)
    return made


def look_every_second(made: StallWatch, until_s: int, *reports: Progress) -> Stall | None:
    """As an agent looks: the first verdict up to a time."""
    for second in range(until_s + 1):
        seen = [r for r in reports if r.at_ns <= at(second)]
        found = made.look(at(second), seen)
        if found is not None:
            return found
    return None


@pytest.mark.parametrize(
    ("after_s", "said", "limit_s"),
    [
        (3.0, report(10, 0), 3.0),
        (None, report(10, 0), SHORTEST_S),
        (3.0, report(WARM_UP_STEPS - 1, 0), PATIENCE_S),
        (3.0, report(WARM_UP_STEPS, 0), 3.0),
        (None, report(1, 0), PATIENCE_S),
        (3.0, report(10, 0, phase="eval"), PATIENCE_S),
        (3.0, report(10, 0, phase="departure"), PATIENCE_S),
        (3.0, report(10, 0, saving=True), PATIENCE_S),
    ],
)
def test_the_limit(after_s: float | None, said: Progress, limit_s: float) -> None:
    made = watch(after_s)
    assert made.limit_s([said]) == limit_s
    assert look_every_second(made, int(limit_s) - 1, said) is None
    late = made.look(at(limit_s + 1.5), [said])
    assert late is not None
    assert (late.limit_s, late.step) == (limit_s, said.step)


def test_steps_are_counted_from_the_checkpoint_of_the_attempt() -> None:
    assert watch(first_step=100).limit_s([report(101, 0)]) == PATIENCE_S
    assert watch(first_step=100).limit_s([report(103, 0)]) == 3.0


def test_the_limit_is_learned_from_the_longest_step() -> None:
    made = watch(None)
    for step, seconds in ((5, 0), (6, 20), (7, 25)):
        made.look(at(seconds), [report(step, seconds)])
    assert made.limit_s([report(7, 25)]) == FACTOR * 20
    made.begin(7)
    made.look(at(30), [report(20, 30)])
    assert made.limit_s([report(20, 30)]) == FACTOR * 20, "kept over attempts"


def test_steps_between_two_looks_share_their_time() -> None:
    made = watch(None)
    made.look(at(0), [report(10, 0)])
    made.look(at(100), [report(20, 100)])
    assert made.limit_s([report(20, 100)]) == FACTOR * 10


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (report(10, 0, phase="eval"), report(11, 500)),
        (report(10, 0), report(11, 500, phase="save")),
        (report(0, 0), report(1, 500)),
        (report(10, 0), report(10, 500)),
    ],
)
def test_what_is_no_ordinary_step_teaches_nothing(before: Progress, after: Progress) -> None:
    made = watch(None)
    made.look(at(0), [before])
    made.look(at(500), [after])
    assert made.limit_s([report(20, 501)]) == SHORTEST_S


@pytest.mark.parametrize("said", [Progress(), report(10, 0, phase="done")])
def test_a_rank_that_has_not_reported_or_is_done_never_hangs(said: Progress) -> None:
    assert watch().look(at(PATIENCE_S * 10), [said]) is None


def test_the_one_that_has_stood_still_longest_is_named() -> None:
    made = watch()
    found = look_every_second(made, 60, report(10, 2), report(10, 1), report(10, 3))
    assert found is not None
    assert found.local_rank == 1
    assert found.for_s > 3


@pytest.mark.parametrize("odd", [{"phase": "eval"}, {"saving": True}])
def test_a_rank_waits_for_its_sibling_that_evaluates_or_saves(odd: dict[str, object]) -> None:
    made = watch()
    assert look_every_second(made, 200, report(10, 0), report(10, 0, **odd)) is None
    assert made.look(at(201), [report(10, 0), report(10, 0)]) is None, "the limit starts anew"
    assert made.look(at(205), [report(10, 0), report(10, 0)]) is not None


def test_a_sibling_that_is_done_is_no_excuse() -> None:
    made = watch()
    assert look_every_second(made, 10, report(10, 0), report(10, 0, phase="done")) is not None


def test_the_end_of_a_long_save_is_no_alarm() -> None:
    """The report's time stays that of the step; the save went on long after it."""
    made = watch()
    assert look_every_second(made, 30, report(10, 0, saving=True)) is None
    assert made.look(at(31), [report(10, 0)]) is None
    assert made.look(at(34), [report(10, 0)]) is not None


def test_an_agent_that_was_frozen_itself_starts_to_count_when_it_wakes() -> None:
    made = watch()
    made.look(at(0), [report(10, 0)])
    assert made.look(at(60), [report(10, 0)]) is None
    assert made.look(at(62), [report(10, 0)]) is None
    assert made.look(at(64), [report(10, 0)]) is not None


def test_peers_that_are_excused_start_the_limit_anew_and_are_not_passed_on() -> None:
    made = watch()
    assert look_every_second(made, 4, report(10, 0)) is not None
    made.wait_for_peers(at(4))
    assert not made.is_excused(at(4))
    assert made.look(at(6), [report(10, 0)]) is None
    assert made.look(at(7.5), [report(10, 0)]) is not None


def test_an_excuse_is_told_for_one_limit_longer_than_it_lasts() -> None:
    made = watch()
    made.look(at(0), [report(10, 0, phase="eval")])
    assert made.is_excused(at(2))
    assert not made.is_excused(at(3.5))
    fresh = watch()
    fresh.look(at(0), [report(10, 0)])
    assert not fresh.is_excused(at(0))
