"""How an attempt ended on one agent, from what is known."""

from __future__ import annotations

import pytest

from phalanx.agent.report import Story, end_of, has_failed
from phalanx.state.gang import RankEnd
from phalanx.words import FailureClass, Outcome

GOOD = RankEnd(0, 0, 100, exit_code=0)
BAD = RankEnd(1, 1, 101, exit_code=3)
KILLED = RankEnd(1, 1, 101, signal=9)
TOLD = RankEnd(1, 1, 101, signal=15, told_to_stop=True)
SPOT = (FailureClass.SPOT_INTERRUPTION, "spot: all ranks saved 0000000010-0 before the end")


def story(*ranks: RankEnd, **words: object) -> Story:
    return Story((1, 2, 3), ranks, 10, **{"finished": False, **words})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("told", "outcome", "failure", "message"),
    [
        (story(GOOD), Outcome.SUCCEEDED, None, ""),
        (story(GOOD, BAD), Outcome.FAILED, None, ""),
        (story(GOOD, KILLED), Outcome.FAILED, None, ""),
        (story(GOOD, TOLD, stop_reason="why"), Outcome.STOPPED, None, "why"),
        (story(BAD, TOLD, stop_reason="why"), Outcome.FAILED, None, "why"),
        (story(TOLD, stop_reason="w", hang="stood"), Outcome.FAILED, FailureClass.HANG, "stood"),
        (story(TOLD, stop_reason="w", departed=SPOT), Outcome.STOPPED, *SPOT),
        (
            story(TOLD, stop_reason="w", hang="stood", departed=SPOT),
            Outcome.FAILED,
            FailureClass.HANG,
            "stood",
        ),
        (
            story(BAD, hang="stood", unreadable=("0000000010-0", "a shard is short")),
            Outcome.FAILED,
            FailureClass.CHECKPOINT_UNREADABLE,
            "checkpoint 0000000010-0: a shard is short",
        ),
    ],
)
def test_the_ending(
    told: Story, outcome: Outcome, failure: FailureClass | None, message: str
) -> None:
    end = end_of(told)
    assert (end.outcome, end.failure, end.message) == (outcome, failure, message)
    assert (end.slot, end.incarnation, end.attempt, end.step) == (1, 2, 3, 10)
    assert end.departing is (told.departed is not None)
    assert end.ranks == told.ranks


def test_the_checkpoint_that_could_not_be_read_is_named() -> None:
    assert end_of(story(BAD, unreadable=("0000000010-0", "short"))).checkpoint == "0000000010-0"
    assert end_of(story(BAD)).checkpoint is None


@pytest.mark.parametrize(
    ("ranks", "failed"), [((GOOD,), False), ((TOLD,), False), ((BAD,), True), ((KILLED,), True)]
)
def test_only_what_a_rank_did_by_itself_is_a_failure(
    ranks: tuple[RankEnd, ...], failed: bool
) -> None:
    assert has_failed(ranks) is failed
