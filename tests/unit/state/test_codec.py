"""JSON of frozen classes: what was written is read; other releases' members do no harm."""

from __future__ import annotations

import json

import pytest

from phalanx.frozen import frozen
from phalanx.plan.job import JobPlan, RestartRule, Secret
from phalanx.state import codec
from phalanx.state.record import Cause, PastAttempt, Record, Seat, StopRequest
from phalanx.words import FailureClass, Phase

PLAN = JobPlan(
    name="a",
    command=("python", "x.py"),
    env=(("A", "1"), ("B", "")),
    secrets=(Secret("S", "env", "S"),),
    restart=(RestartRule((FailureClass.HANG, FailureClass.UNKNOWN), "fail", 3, counted=False),),
)
RECORD = Record(
    job="a-1",
    plan=PLAN,
    created_ns=5,
    phase=Phase.RUNNING,
    seats=(Seat(0), Seat(1, 2, 3, 4, True)),
    spent=(("Hang", 2),),
    stop=StopRequest(7, True, "why"),
    history=(PastAttempt(0, 9, Cause(FailureClass.KILLED, "m", 1, 2, (3,), (("w", "s"),)), True),),
)


@frozen
class Tree:
    """A class of its own kind."""

    name: str
    pair: tuple[int, str] = (0, "")
    below: tuple[Tree, ...] = ()
    first: Tree | None = None


@pytest.mark.parametrize(
    "value", [PLAN, RECORD, Record("b-1", PLAN, 0), Tree("a", (1, "b"), (Tree("c"),), Tree("d"))]
)
def test_what_was_written_is_read(value: object) -> None:
    data = codec.dumps(value)
    again = codec.loads(type(value), data)
    assert again == value
    assert codec.dumps(again) == data


def test_members_of_another_release() -> None:
    told = json.loads(codec.dumps(RECORD))
    told["unheard_of"] = {"x": 1}
    told["seats"][1]["unheard_of"] = 1
    del told["phase"], told["seats"][0]["incarnation"]
    read = codec.loads(Record, json.dumps(told).encode())
    assert (read.phase, read.seats) == (Phase.PENDING, RECORD.seats)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b'{"job": "a"}', b'{"job":"a","plan":3,"created_ns":1}', b"\xff"],
)
def test_something_else_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"[a-z]"):
        codec.loads(Record, data)


def test_words_that_do_not_exist() -> None:
    told = json.loads(codec.dumps(RECORD))
    with pytest.raises(ValueError, match="Phantom"):
        codec.loads(Record, json.dumps({**told, "phase": "Phantom"}).encode())
    with pytest.raises(ValueError, match="argument"):
        codec.loads(Tree, b'{"name": "a", "pair": [1]}')
