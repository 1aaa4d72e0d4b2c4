"""Commands inside a task of this machine; the agent is a stand-in, what enters is real."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from phalanx.backends.base import Enters
from phalanx.backends.local.inside import environment_of, exit_code
from phalanx.backends.local.processes import boot, start_of
from phalanx.backends.local.tasks import Claim
from phalanx.errors import BackendError
from phalanx.plan.job import Secret
from phalanx.state.codec import dumps
from phalanx.state.gang import Member, World
from phalanx.state.observed import ObservedTask
from phalanx.state.record import Seat
from tests.support.local_place import LocalPlace
from tests.support.waiting import until

JOB = "demo-1"
SEATS = (Seat(0, launched_ns=1), Seat(1, launched_ns=1))
SAY = 'echo "$RANK/$WORLD_SIZE/$PHALANX_SLOT/$PHALANX_EXEC/$PHALANX_AGENT_SOCKET/$COLOUR/$TOKEN"'


@pytest.fixture
def place(tmp_path: Path) -> Iterator[LocalPlace]:
    made = LocalPlace(tmp_path, {"TOKEN_HERE": "hunter2"})
    made.plan = replace(
        made.plan,
        nodes=2,
        ranks_per_node=2,
        env=(("COLOUR", "blue"),),
        secrets=(Secret("TOKEN", "env", "TOKEN_HERE"),),
    )
    made.submit(JOB, *SEATS)
    yield made
    made.close()


@pytest.fixture
def task(place: LocalPlace) -> ObservedTask:
    return place.start(JOB, SEATS[1])


def freeze(place: LocalPlace) -> None:
    members = tuple(Member(slot, 0, 0, "127.0.0.1", 1, ranks=2, pid=1) for slot in (0, 1))
    place.store.create(f"jobs/{JOB}/attempts/0/world", dumps(World(0, members)))


def says(capfd: pytest.CaptureFixture[str], place: LocalPlace, task: ObservedTask, **words) -> str:
    capfd.readouterr()
    code = place.backend.enter(task, {"command": ["sh", "-c", SAY], **words})
    out, err = capfd.readouterr()
    return out.strip() if code == 0 else f"{code}: {err.strip()}"


def test_a_command_stands_where_the_ranks_stand(
    place: LocalPlace, task: ObservedTask, capfd: pytest.CaptureFixture[str]
) -> None:
    assert isinstance(place.backend, Enters)
    assert says(capfd, place, task) == "//1/1//blue/hunter2"
    assert (
        says(capfd, place, task, rank=2) == "4: phalanx: rank 2 has not started: attempt 0 gathers"
    )
    freeze(place)
    assert says(capfd, place, task) == "2/4/1/1//blue/hunter2"
    assert says(capfd, place, task, rank=3) == "3/4/1/1//blue/hunter2"
    refused = "4: phalanx: rank 1 is not in slot 1, whose ranks are 2 to 3"
    assert says(capfd, place, task, rank=1) == refused
    assert place.backend.enter(task, {"command": ["pwd"]}) == 0
    assert capfd.readouterr().out.strip() == str(place.root / f"jobs/{JOB}/source")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["sh", "-c", "exit 9"], 9),
        (["sh", "-c", "kill -9 $$"], 137),
        (["nosuchcommand"], 127),
        (["/etc/passwd"], 126),
    ],
)
def test_the_exit_code_is_passed_through(
    place: LocalPlace, task: ObservedTask, command: list[str], code: int
) -> None:
    assert place.backend.enter(task, {"command": command}) == code


def test_ranks_that_have_not_started_have_no_stacks(place: LocalPlace, task: ObservedTask) -> None:
    assert json.loads(place.backend.ask(task, {"stacks": True}, 30.0)) == {"ranks": []}


def test_the_secret_is_nowhere_under_the_root(place: LocalPlace, task: ObservedTask) -> None:
    assert place.backend.enter(task, {"command": ["true"]}) == 0
    for folder, _, names in os.walk(place.root):
        for name in names:
            assert b"hunter2" not in Path(folder, name).read_bytes()


def test_a_task_that_has_ended_lets_nobody_in(place: LocalPlace, task: ObservedTask) -> None:
    place.kill(task)
    until(lambda: place.running(JOB, task.token) is None)
    with pytest.raises(BackendError, match="has just ended"):
        place.backend.enter(task, {"command": ["true"]})
    with pytest.raises(BackendError, match="no task of slot 7 runs"):
        place.backend.enter(replace(task, token="f" * 32, slot=7), {"command": ["true"]})


def test_another_process_under_the_agents_number_is_not_taken_for_it() -> None:
    pid = os.getpid()
    start = start_of(pid)
    assert start is not None
    right = Claim(pid, start, boot(), 0, 0, 0)
    assert environment_of(right)["PATH"]
    with pytest.raises(BackendError, match="has just ended"):
        environment_of(right._replace(start=start - 1))


def test_ends_by_signal_have_a_shells_codes() -> None:
    assert [exit_code(status) for status in (0, 3, -9, -15)] == [0, 3, 137, 143]
