"""Which rank made a gang hang."""

from __future__ import annotations

import pytest

from phalanx.state.gang import End, RankEnd
from phalanx.verdict.hang import hang_cause
from phalanx.words import FailureClass, Outcome

STOOD = "rank 0 finished step 12 and then stood still for 3.4 s (limit 3.0 s)"


def rank(
    number: int,
    stuck: str = "collective",
    place: str = "train.py:40 in <module>",
    step: int = 12,
    still_s: float = 3.0,
) -> RankEnd:
    return RankEnd(
        number,
        number % 2,
        100 + number,
        signal=9,
        told_to_stop=True,
        stuck=stuck,
        place=place,
        still_ns=int(still_s * 1e9),
        step=step,
    )


def end(slot: int, *ranks: RankEnd, found: bool = False) -> End:
    failure = FailureClass.HANG if found else None
    outcome = Outcome.FAILED if found else Outcome.STOPPED
    return End(slot, 0, 0, outcome, ranks, failure=failure, message=STOOD if found else "")


def two_slots(*ranks: RankEnd) -> list[End]:
    half = len(ranks) // 2
    return [end(0, *ranks[:half], found=True), end(1, *ranks[half:])]


OWN = "train.py:12 in spin"


@pytest.mark.parametrize(
    ("ranks", "blamed", "says"),
    [
        # a stopped process goes before everything
        (
            [rank(0), rank(1, "code", OWN, step=3), rank(2), rank(3, "stopped", "")],
            (3, 1),
            "stopped (SIGSTOP)",
        ),
        # fewer finished steps go before where it stands
        ([rank(0), rank(1, "code", OWN), rank(2, step=11), rank(3)], (2, 1), "finished step 11"),
        # its own code while the others wait in a collective
        ([rank(0), rank(1, "code", OWN), rank(2), rank(3)], (1, 0), f"at {OWN}"),
        ([rank(0), rank(1, "code", ""), rank(2), rank(3)], (1, 0), "at its own code"),
        # another line than all the others
        (
            [rank(0), rank(1), rank(2, place="train.py:33 in <module>"), rank(3)],
            (2, 1),
            "train.py:33",
        ),
        # still for longest
        ([rank(0), rank(1, still_s=3.5), rank(2), rank(3)], (1, 0), "stood still first (3.5 s)"),
        # two alone: nobody is odd
        ([rank(0), rank(1, place="x.py:1 in y", still_s=4)], (1, 1), "stood still first"),
        ([rank(0, "code", OWN), rank(1, "code", "x.py:1 in y", still_s=9)], (1, 1), "first"),
    ],
)
def test_the_order_of_blame(ranks: list[RankEnd], blamed: tuple[int, int], says: str) -> None:
    cause = hang_cause(two_slots(*ranks))
    assert cause is not None
    assert cause.failure is FailureClass.HANG
    assert (cause.rank, cause.slot) == blamed
    assert f"rank {blamed[0]} (slot {blamed[1]}) hangs" in cause.message
    assert says in cause.message


def test_a_single_rank_is_to_blame_itself() -> None:
    cause = hang_cause([end(0, rank(0), found=True)])
    assert cause is not None
    assert (cause.rank, cause.slot) == (0, 0)


def test_a_slot_that_says_nothing_is_frozen() -> None:
    cause = hang_cause([end(0, rank(0), rank(1), found=True)], [1])
    assert cause is not None
    assert (cause.slot, cause.rank) == (1, None)
    assert "slot 1 is frozen" in cause.message


def test_a_stopped_rank_explains_more_than_a_silent_slot() -> None:
    cause = hang_cause([end(0, rank(0), rank(1, "stopped", ""), found=True)], [1])
    assert cause is not None
    assert (cause.slot, cause.rank) == (0, 1)


def test_when_nothing_tells_nobody_is_named_but_the_slot_that_found_it() -> None:
    nothing = [rank(n, "", "", still_s=0) for n in range(4)]
    cause = hang_cause(two_slots(*nothing))
    assert cause is not None
    assert (cause.slot, cause.rank) == (0, None)
    assert "nothing tells which rank" in cause.message
    assert STOOD in cause.message


def test_without_a_finding_there_is_no_hang() -> None:
    assert hang_cause([]) is None
    assert hang_cause([end(0, rank(0)), end(1, rank(1))], [2]) is None


def test_where_every_rank_stood_is_evidence() -> None:
    cause = hang_cause(two_slots(rank(0), rank(1, "code", OWN), rank(2, "", ""), rank(3)))
    assert cause is not None
    evidence = dict(cause.evidence)
    assert evidence["ends/0.0"] == STOOD
    stood = {where: says for where, says in evidence.items() if "stacks" in where}
    assert list(stood.values()) == [
        "rank 0: step 12, collective at train.py:40 in <module>",
        f"rank 1: step 12, code at {OWN}",
        "rank 2: step 12, unknown",
        "rank 3: step 12, collective at train.py:40 in <module>",
    ]
    assert list(stood) == [f"evidence/stacks-0-0000{n}" for n in range(4)]


def test_the_order_in_which_endings_are_read_does_not_matter() -> None:
    ends = two_slots(rank(0), rank(1, "code", OWN), rank(2), rank(3))
    assert hang_cause(ends) == hang_cause(ends[::-1])
