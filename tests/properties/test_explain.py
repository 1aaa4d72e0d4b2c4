"""Explanations under permutation, repetition, mutation and noise."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phalanx.errors import PhalanxError
from phalanx.explain.explain import explain
from phalanx.explain.reading import Input
from phalanx.plan.job import JobPlan
from phalanx.state.codec import plain
from phalanx.state.gang import End, RankEnd
from phalanx.state.record import Cause, PastAttempt, Record, Seat
from phalanx.words import FailureClass, Outcome
from tests.support.mutate import mutate

CASES = Path(__file__).parents[1] / "cases" / "explain"
EVENTS = sorted(CASES.glob("*.events.json"))
FILES = sorted(CASES.glob("*.*.json"))

RECORD = Record(
    "j-1",
    JobPlan("j", ("python", "train.py")),
    1,
    attempt=1,
    seats=(Seat(0),),
    history=(PastAttempt(0, 5, Cause(FailureClass.KILLED, "rank 0 was killed", 0, 0), True),),
)
END = End(0, 0, 1, Outcome.FAILED, (RankEnd(0, 0, 7, exit_code=1, error="ValueError: x"),))


def answer(value: Any, file: str = "evidence.json") -> dict[str, Any]:
    return explain([Input(file, json.dumps(value).encode())]).plain()


def decisions(value: Any) -> tuple[Any, Any]:
    given_ = answer(value)
    tasks = [
        {k: t[k] for k in ("task", "state", "class", "exit_code", "action", "first_cause")}
        for t in given_["tasks"]
    ]
    return given_.get("decision", given_.get("decisions")), tasks


@pytest.mark.parametrize("file", EVENTS, ids=[f.name for f in EVENTS])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_order_and_repetition_of_deliveries_do_not_matter(file: Path, data: st.DataObject) -> None:
    value = json.loads(file.read_text())
    right = decisions(value)
    known = value["deliveries"]
    more = data.draw(st.lists(st.sampled_from(known), max_size=6))
    value["deliveries"] = data.draw(st.permutations([*known, *more]))
    assert decisions(value) == right


STOPS = st.fixed_dictionaries(
    {
        "stopCode": st.sampled_from(
            ["EssentialContainerExited", "UserInitiated", "SpotInterruption", "TaskFailedToStart",
             "NewCode", ""]
        ),
        "stoppedReason": st.sampled_from(["gang-stop", "Host EC2 (instance i-1) terminated.", "x"]),
        "lastStatus": st.sampled_from(["STOPPED", "RUNNING", "PENDING"]),
        "version": st.integers(1, 9),
        "exit": st.sampled_from([None, 0, 1, 137, 143]),
    }
)  # fmt: skip


@given(
    data=st.data(),
    looks=st.lists(st.tuples(st.integers(0, 2), STOPS), min_size=1, max_size=8),
    recorded=st.lists(st.integers(0, 2), max_size=3),
)
@settings(max_examples=150, deadline=None)
def test_any_sequence_gives_one_decision(
    data: st.DataObject, looks: list[tuple[int, dict[str, Any]]], recorded: list[int]
) -> None:
    unique = {(task, look["version"]): look for task, look in looks}
    found = [_delivery(task, look) for (task, _), look in unique.items()]
    value = {"job": _job(recorded), "deliveries": found}
    right = decisions(value)
    twice = data.draw(st.lists(st.sampled_from(found), max_size=4))
    shuffled = data.draw(st.permutations([*found, *twice]))
    assert decisions({"job": _job(recorded), "deliveries": shuffled}) == right


def _job(recorded: list[int]) -> dict[str, Any]:
    return {
        "job_id": "j",
        "world_size": 3,
        "attempt": 1,
        "max_attempts": 3,
        "ranks": [{"rank": n, "taskArn": f"arn:aws:ecs:r:1:task/c/{n}"} for n in range(3)],
        "controller_intents": [
            {"action": "StopTask", "taskArn": f"arn:aws:ecs:r:1:task/c/{n}", "reason": "gang-stop"}
            for n in recorded
        ],
    }


def _delivery(task: int, look: dict[str, Any]) -> dict[str, Any]:
    container = {"name": "t", **({} if look["exit"] is None else {"exitCode": look["exit"]})}
    detail = {k: v for k, v in look.items() if k != "exit"}
    detail |= {"taskArn": f"arn:aws:ecs:r:1:task/c/{task}", "containers": [container]}
    time = f"2026-11-21T12:0{look['version']}:00Z"
    return {"event": {"id": f"{task}-{look['version']}", "time": time, "detail": detail}}


@given(seed=st.integers(0, 2**32), count=st.integers(1, 4))
@settings(max_examples=300, deadline=None)
def test_mutated_evidence_never_crashes(seed: int, count: int) -> None:
    rng = random.Random(seed)
    file = rng.choice(FILES)
    value = mutate(json.loads(file.read_text()), rng, count)
    speaks(json.dumps(value).encode(), file.name)


@given(seed=st.integers(0, 2**32), count=st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_a_mutated_record_or_ending_never_crashes(seed: int, count: int) -> None:
    rng = random.Random(seed)
    record, end = (json.dumps(mutate(plain(value), rng, count)).encode() for value in (RECORD, END))
    refusal = None
    try:
        explain([Input("jobs/j-1/record", record), Input("jobs/j-1/attempts/0/ends/0.0", end)])
    except PhalanxError as error:
        refusal = error
    assert refusal is None or _is_one_line(refusal.line(), "record")


@given(data=st.one_of(st.binary(max_size=400), st.text(max_size=400).map(str.encode)))
@settings(max_examples=300, deadline=None)
def test_noise_never_crashes(data: bytes) -> None:
    for name in ("x.json", "x.log", "record", "x.yaml"):
        speaks(data, name)


def speaks(data: bytes, name: str) -> None:
    """It answers, or refuses with one clear line."""
    refusal = None
    try:
        json.dumps(explain([Input(name, data)]).plain(), allow_nan=False)
    except PhalanxError as error:
        refusal = error
    assert refusal is None or (refusal.exit_code == 2 and _is_one_line(refusal.line(), name))


def _is_one_line(line: str, name: str) -> bool:
    return "\n" not in line and name in line
