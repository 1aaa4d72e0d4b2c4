"""No process of a job outlives it: real processes that try to get away, and real kills."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from phalanx.backends.local import processes
from phalanx.backends.local.backend import LocalBackend
from phalanx.state.record import Seat
from tests.support.local_place import LocalPlace
from tests.support.waiting import until

JOB = "demo-1"
SEAT = Seat(0, launched_ns=1)

ESCAPE = """
import os, signal, sys, time
STANDIN = os.environ["PHALANX_ROOT"] + "/standin/"

def say(name):
    with open(STANDIN + name + ".draft", "w") as file:
        file.write(str(os.getpid()))
    os.rename(STANDIN + name + ".draft", STANDIN + name)

def live():
    while True:
        time.sleep(60)

def escape(name, session=True, deaf=True, clear=False, double=True):
    if os.fork():
        return
    if session:
        os.setsid()
    if double and os.fork():
        os._exit(0)
    if deaf:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
    if clear:
        code = "import os, sys, time; open(sys.argv[1] + '.draft', 'w').write(str(os.getpid()));"
        code += "os.rename(sys.argv[1] + '.draft', sys.argv[1]); time.sleep(3600)"
        os.execve(sys.executable, [sys.executable, "-c", code, STANDIN + name], {})
    say(name)
    live()
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[LocalPlace]:
    made = LocalPlace(tmp_path)
    yield made
    made.close()


class Escaped:
    """A process that a script started, by pid and start time."""

    def __init__(self, place: LocalPlace, name: str) -> None:
        self.pid = place.said(name)
        start = processes.start_of(self.pid)
        assert start is not None
        self.start = start

    @property
    def lives(self) -> bool:
        return processes.start_of(self.pid) == self.start


def started(place: LocalPlace, script: str, *names: str) -> tuple[str, list[Escaped]]:
    place.script(ESCAPE + script)
    place.submit(JOB, SEAT)
    task = place.start(JOB, SEAT)
    return task.token, [Escaped(place, name) for name in names]


def stop_all(place: LocalPlace, backend: LocalBackend | None = None, grace_s: float = 0.0) -> None:
    chosen = backend or place.controller()
    for task in chosen.observe(JOB):
        if task.is_alive:
            chosen.stop(task, "the job is over", grace_s)


WAYS = {
    "setsid, double fork, deaf": "escape('a')",
    "setsid, cleared environment": "escape('a', clear=True, double=False)",
    "setsid, double fork, cleared environment": "escape('a', clear=True)",
    "deaf child of the same session": "escape('a', session=False, double=False)",
    "orphan of the same session, cleared environment": "escape('a', session=False, clear=True)",
}


@pytest.mark.parametrize("way", sorted(WAYS))
def test_stop_ends_what_ran_away_from_a_living_agent(place: LocalPlace, way: str) -> None:
    _, (escaped,) = started(place, WAYS[way], "a")
    stop_all(place)
    assert not escaped.lives
    assert not place.marked()


@pytest.mark.parametrize(
    "way",
    sorted(set(WAYS) - {"setsid, double fork, cleared environment", "setsid, cleared environment"}),
)
def test_what_a_killed_agent_left_is_found_and_ended(place: LocalPlace, way: str) -> None:
    _, (escaped,) = started(place, WAYS[way], "a")
    (task,) = place.backend.observe(JOB)
    place.kill(task)
    fresh = place.controller()
    until(lambda: not any(t.is_alive for t in fresh.observe(JOB)))
    left = fresh.leftovers(JOB, ())
    assert [name.split(".")[0] for name in left] == [str(escaped.pid)]
    fresh.clean(JOB, left)
    assert not escaped.lives
    assert fresh.leftovers(JOB, ()) == ()


def test_whoever_looked_in_time_remembers_even_the_best_hidden(place: LocalPlace) -> None:
    """Own session, no environment, dead agent: only a look while the agent lived can tell."""
    token, (escaped,) = started(place, "escape('a', clear=True)", "a")
    (task,) = place.backend.observe(JOB)
    assert str(escaped.pid) in {str(p.pid) for p in place.backend._table.processes(JOB, token)}
    place.kill(task)
    until(lambda: not any(t.is_alive for t in place.backend.observe(JOB)))
    place.backend.clean(JOB, place.backend.leftovers(JOB, ()))
    assert not escaped.lives


def test_a_task_that_ends_well_leaves_leftovers_that_go(place: LocalPlace) -> None:
    _, (escaped,) = started(place, "escape('a')", "a")
    (task,) = place.backend.observe(JOB)
    place.finish(task, 0)
    until(lambda: not any(t.is_alive for t in place.backend.observe(JOB)))
    assert escaped.lives
    place.backend.clean(JOB, place.backend.leftovers(JOB, ()))
    assert not escaped.lives


CHAIN = """
import os, sys, time
for _ in range(20000):
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.004)
"""


def test_a_process_that_keeps_forking_is_ended(place: LocalPlace) -> None:
    """A chain of short lives, each in a session of its own, without environment; they share a
    lock, which is free once none is left."""
    script = f"""
import fcntl
fd = os.open(STANDIN + "lock", os.O_CREAT | os.O_RDWR)
fcntl.flock(fd, fcntl.LOCK_EX)
os.set_inheritable(fd, True)
if os.fork() == 0:
    os.execve(sys.executable, [sys.executable, "-c", {CHAIN!r}], {{}})
os.close(fd)
say("a")
"""
    started(place, script, "a")
    (task,) = place.backend.observe(JOB)

    def is_over() -> bool:
        place.backend.stop(task, "the job is over", 0.0)
        return not place.marked()

    until(is_over)
    with (place.standin / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_child_that_leaves_through_the_bootstrap_leaves_no_exit_code(place: LocalPlace) -> None:
    script = """
child = os.fork()
if child == 0:
    sys.exit(5)
os.waitpid(child, 0)
say("a")
"""
    started(place, script, "a")
    (task,) = place.backend.observe(JOB)
    place.finish(task, 0)
    (told,) = until(lambda: [t for t in place.backend.observe(JOB) if not t.is_alive])
    assert told.exit_code == 0


def test_a_stubborn_agent_is_killed_only_after_its_grace(place: LocalPlace) -> None:
    clock = [0]
    started(place, "signal.signal(signal.SIGTERM, lambda *_: say('heard')); say('a')", "a")
    backend = LocalBackend(place.root, environ=place.environ, now_ns=lambda: clock[0])
    stop_all(place, backend, 5.0)
    place.said("heard")
    clock[0] = 4_999_999_999
    stop_all(place, backend, 5.0)
    assert [t.state.value for t in backend.observe(JOB)] == ["stopping"]
    clock[0] = 5_000_000_000
    stop_all(place, backend, 5.0)
    (task,) = backend.observe(JOB)
    assert (task.state.value, task.failure) == ("stopped", "StoppedByUs")
    assert task.reason == "killed: the job is over"


def test_sigterm_is_sent_once_whoever_asks_again(place: LocalPlace) -> None:
    """The real-time signal comes after every SIGTERM that was sent before it."""
    script = """
heard = []
signal.signal(signal.SIGTERM, lambda *_: (heard.append(1), say(f'heard-{len(heard)}')))
signal.signal(signal.SIGRTMIN, lambda *_: say('barrier'))
say('a')
"""
    started(place, script, "a")
    (task,) = place.backend.observe(JOB)
    stop_all(place, place.controller(), 60.0)
    place.said("heard-1")
    stop_all(place, place.controller(), 60.0)
    stop_all(place, place.controller(), 60.0)
    os.kill(int(task.id), signal.SIGRTMIN)
    place.said("barrier")
    assert not (place.standin / "heard-2").exists()


def test_a_stopped_agent_is_ended_too(place: LocalPlace) -> None:
    _, (escaped,) = started(place, "escape('a')", "a")
    (task,) = place.backend.observe(JOB)
    os.kill(int(task.id), signal.SIGSTOP)
    stop_all(place)
    assert not escaped.lives
    assert not place.marked()


def test_a_new_launch_ends_what_the_slots_old_task_left(place: LocalPlace) -> None:
    _, (escaped,) = started(place, "escape('a')", "a")
    (task,) = place.backend.observe(JOB)
    place.kill(task)
    until(lambda: not any(t.is_alive for t in place.backend.observe(JOB)))
    assert escaped.lives
    place.script("")
    second = Seat(0, incarnation=1, launched_ns=1)
    place.submit(JOB, second)
    place.start(JOB, second)
    assert not escaped.lives


def test_the_same_job_of_another_root_is_left_alone(place: LocalPlace, tmp_path: Path) -> None:
    started(place, "")
    other = LocalPlace(tmp_path / "other")
    try:
        other.submit(JOB, SEAT)
        neighbour = other.start(JOB, SEAT)
        stop_all(place)
        assert not place.marked()
        assert [t.id for t in other.backend.observe(JOB) if t.is_alive] == [neighbour.id]
    finally:
        other.close()


def test_a_controller_that_an_agent_started_is_spared(place: LocalPlace) -> None:
    script = """
sys.path.insert(0, os.getcwd())
from phalanx.backends.local.marks import outside_environment
if os.fork() == 0:
    os.setsid()
    code = "import os, sys, time; open(sys.argv[1] + '.draft', 'w').write(str(os.getpid()));"
    code += "os.rename(sys.argv[1] + '.draft', sys.argv[1]); time.sleep(3600)"
    env = outside_environment(os.environ)
    os.execve(sys.executable, [sys.executable, "-c", code, STANDIN + "a"], env)
"""
    _, (controller,) = started(place, script, "a")
    stop_all(place)
    assert not place.marked()
    assert controller.lives
    os.kill(controller.pid, signal.SIGKILL)


def test_another_roots_job_that_a_task_started_is_spared(place: LocalPlace) -> None:
    """A script may itself run `phalanx run` with a root of its own."""
    script = """
if os.fork() == 0:
    os.setsid()
    code = "import os, sys, time; open(sys.argv[1] + '.draft', 'w').write(str(os.getpid()));"
    code += "os.rename(sys.argv[1] + '.draft', sys.argv[1]); time.sleep(3600)"
    env = {**os.environ, "PHALANX_ROOT": "/elsewhere", "PHALANX_TASK": "f" * 32}
    os.execve(sys.executable, [sys.executable, "-c", code, STANDIN + "a"], env)
"""
    _, (nested,) = started(place, script, "a")
    stop_all(place)
    assert not place.marked()
    assert nested.lives
    os.kill(nested.pid, signal.SIGKILL)
