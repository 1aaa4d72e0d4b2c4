"""What every backend must do, whatever it runs tasks on.

A backend joins by one line in `PLACES`: something that holds a backend and can play its
surroundings (`Place`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from phalanx import names
from phalanx.backends.base import Backend, Cleans, Notifies
from phalanx.plan.job import JobPlan
from phalanx.state.observed import ObservedTask
from phalanx.state.record import Seat
from phalanx.words import TaskState
from tests.support.local_place import LocalPlace
from tests.support.sim_place import SimPlace
from tests.support.waiting import until

JOB = "demo-1"


class Place(Protocol):
    """A backend and its surroundings. Tasks run until told to end."""

    plan: JobPlan
    backend: Backend

    def controller(self) -> Backend:
        """A second controller's backend for the same tasks."""
        ...

    def submit(self, job: str, *seats: Seat) -> None:
        """Write the record that seats these, launched."""
        ...

    def finish(self, task: ObservedTask, code: int) -> None:
        """Have a task end by itself."""
        ...

    def kill(self, task: ObservedTask) -> None:
        """Have a task die."""
        ...

    def close(self) -> None:
        """Take everything down."""
        ...


PLACES: dict[str, Callable[[Path], Place]] = {
    "local": LocalPlace,
    "sim": SimPlace,
}


@pytest.fixture(params=sorted(PLACES))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    made = PLACES[request.param](tmp_path)
    yield made
    made.close()


def seat(slot: int, incarnation: int = 0, tries: int = 0) -> Seat:
    return Seat(slot, incarnation, tries, launched_ns=1)


def start(place: Place, *seats: Seat) -> list[ObservedTask]:
    """Launch all, and wait until all run."""
    place.submit(JOB, *seats)
    for one in seats:
        place.backend.launch(place.backend.render(JOB, place.plan, one))

    def all_running() -> list[ObservedTask]:
        found = [t for t in place.backend.observe(JOB) if t.state is TaskState.RUNNING]
        return found if len(found) == len(seats) else []

    return until(all_running)


def ended(place: Place, task: ObservedTask) -> ObservedTask | None:
    """The task as the target tells it once it has ended."""
    found = [t for t in place.backend.observe(JOB) if t.token == task.token]
    assert len(found) == 1
    return None if found[0].is_alive else found[0]


def test_render_is_a_function_of_its_inputs(place: Place) -> None:
    first = place.backend.render(JOB, place.plan, seat(1, 2, 3))
    assert first == place.controller().render(JOB, place.plan, seat(1, 2, 3))
    assert first.token == names.token(JOB, 1, 2, 3)
    assert (first.job, first.slot, first.incarnation, first.tries) == (JOB, 1, 2, 3)


def test_every_intent_has_a_request_of_its_own(place: Place) -> None:
    seats = [seat(0), seat(1), seat(0, 1), seat(0, 0, 1)]
    rendered = {place.backend.render(JOB, place.plan, one).token for one in seats}
    assert len(rendered) == len(seats)


def test_a_job_without_tasks_is_observed_as_empty(place: Place) -> None:
    place.submit(JOB, seat(0))
    assert place.backend.observe(JOB) == ()


def test_launched_tasks_are_observed_with_their_seats(place: Place) -> None:
    tasks = start(place, seat(0), seat(1, 2))
    assert [(t.slot, t.incarnation, t.tries) for t in tasks] == [(0, 0, 0), (1, 2, 0)]
    assert [t.token for t in tasks] == [names.token(JOB, 0, 0, 0), names.token(JOB, 1, 2, 0)]
    assert len({t.id for t in tasks}) == 2


def test_one_token_makes_at_most_one_task(place: Place) -> None:
    place.submit(JOB, seat(0))
    request = place.backend.render(JOB, place.plan, seat(0))
    other = place.controller()
    for backend in (place.backend, other, place.backend, other):
        backend.launch(request)
    task = until(lambda: [t for t in place.backend.observe(JOB) if t.state is TaskState.RUNNING])
    place.backend.launch(request)
    assert [t.id for t in place.backend.observe(JOB)] == [task[0].id]


def test_a_token_whose_task_has_ended_starts_nothing(place: Place) -> None:
    (task,) = start(place, seat(0))
    place.finish(task, 0)
    until(lambda: ended(place, task))
    place.backend.launch(place.backend.render(JOB, place.plan, seat(0)))
    assert not any(t.is_alive for t in place.backend.observe(JOB))


def test_the_exit_code_is_told_to_every_controller(place: Place) -> None:
    (task,) = start(place, seat(0))
    place.finish(task, 7)
    until(lambda: ended(place, task))
    (told,) = place.controller().observe(JOB)
    assert (told.state, told.exit_code) == (TaskState.STOPPED, 7)


def test_a_killed_task_ends_without_a_good_exit_code(place: Place) -> None:
    first, second = start(place, seat(0), seat(1))
    place.kill(first)
    told = until(lambda: ended(place, first))
    assert told.exit_code != 0
    assert told.reason
    assert ended(place, second) is None


def test_stop_ends_a_task_and_may_be_repeated(place: Place) -> None:
    first, second = start(place, seat(0), seat(1))
    place.backend.stop(first, "asked by the test", 60.0)
    place.controller().stop(first, "asked by the test", 60.0)
    told = until(lambda: ended(place, first))
    place.backend.stop(told, "asked by the test", 60.0)
    assert ended(place, second) is None


def test_stop_without_grace_ends_a_task(place: Place) -> None:
    (task,) = start(place, seat(0))
    place.backend.stop(task, "superseded", 0.0)
    until(lambda: ended(place, task))


def test_jobs_do_not_see_each_other(place: Place) -> None:
    (task,) = start(place, seat(0))
    place.submit("demo-2", seat(0))
    assert place.backend.observe("demo-2") == ()
    assert task.token != place.backend.render("demo-2", place.plan, seat(0)).token


def test_an_ending_wakes_whoever_waits(place: Place) -> None:
    if not isinstance(place.backend, Notifies):
        pytest.skip("this backend does not notify")
    import select

    (task,) = start(place, seat(0))
    fds = place.backend.wake_fds(JOB)
    assert not select.select(fds, [], [], 0)[0]
    place.finish(task, 0)
    assert select.select(fds, [], [], 30)[0]
    assert until(lambda: ended(place, task))
    assert not place.backend.wake_fds(JOB)


def test_a_living_task_is_no_leftover(place: Place) -> None:
    if not isinstance(place.backend, Cleans):
        pytest.skip("this backend does not clean")
    (task,) = start(place, seat(0))
    assert place.backend.leftovers(JOB, (task.token,)) == ()
    place.backend.clean(JOB, ())
    assert ended(place, task) is None
