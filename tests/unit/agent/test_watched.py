"""When the last look at a folder may take the ranks' good end for granted."""

from __future__ import annotations

import pytest

from phalanx.agent.protocol import Seen
from phalanx.agent.watched import _others
from phalanx.frozen import replace
from phalanx.state.gang import End, Member, World
from phalanx.words import Outcome, Phase
from tests.support.made_root import record

WORLD = World(1, tuple(Member(slot, 0, 1, "127.0.0.1", 1, ranks=1) for slot in (0, 1)))
GOOD, BAD = Outcome.SUCCEEDED, Outcome.FAILED


@pytest.mark.parametrize(
    ("ends", "others"),
    [
        ((), [None]),
        (((1, GOOD),), [GOOD]),
        (((1, BAD),), [BAD]),
        (((0, GOOD),), [None]),
    ],
)
def test_others_are_waited_for_while_all_may_end_well(ends, others) -> None:
    told = tuple(End(slot, 0, 1, outcome) for slot, outcome in ends)
    assert _others(WORLD, Seen(record(), ends=told), 0) == others


def test_nobody_waits_once_it_is_over() -> None:
    assert _others(WORLD, Seen(None), 0) == [BAD]
    assert _others(WORLD, Seen(replace(record(), attempt=2)), 0) == [BAD]
    assert _others(WORLD, Seen(replace(record(), ending=Phase.STOPPED)), 0) == [BAD]
