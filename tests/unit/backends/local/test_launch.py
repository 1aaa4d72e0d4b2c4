"""Launching: one token makes one task, late launches make none, secrets stay references."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from phalanx.backends.local import processes
from phalanx.backends.local.backend import LocalBackend
from phalanx.errors import BackendError, LaunchRefused
from phalanx.plan.job import Secret
from phalanx.state.observed import ObservedTask
from phalanx.state.record import Seat
from phalanx.words import FailureClass, TaskState
from tests.support.local_place import REPOSITORY, STANDIN, LocalPlace
from tests.support.waiting import until

JOB = "demo-1"
SEAT = Seat(0, launched_ns=1)
GATE = """
import os, time
gate = os.environ.get("TEST_GATE")
while gate and os.environ.get("PHALANX_TASK") and not os.path.exists(gate):
    time.sleep(0.01)
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[LocalPlace]:
    """Bootstraps wait, before any code of ours, until `open_gate`."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(GATE)
    path = os.pathsep.join((str(tmp_path / "site"), str(REPOSITORY)))
    made = LocalPlace(tmp_path, {"PYTHONPATH": path, "TEST_GATE": str(tmp_path / "gate")})
    yield made
    made.close()


def open_gate(place: LocalPlace) -> None:
    Path(place.environ["TEST_GATE"]).touch()


def launch(place: LocalPlace, *, times: int = 1) -> None:
    place.submit(JOB, SEAT)
    request = place.backend.render(JOB, place.plan, SEAT)
    for _ in range(times):
        place.backend.launch(request)


def only(place: LocalPlace) -> ObservedTask:
    (task,) = place.backend.observe(JOB)
    return task


def test_a_bootstrap_is_observed_as_pending_and_becomes_the_task(place: LocalPlace) -> None:
    launch(place)
    pending = only(place)
    assert pending.state is TaskState.PENDING
    assert place.backend.leftovers(JOB, ()) == ()
    open_gate(place)
    running = until(lambda: place.running(JOB, pending.token))
    assert running == replace(pending, state=TaskState.RUNNING)


def test_many_bootstraps_of_one_token_make_one_task(place: LocalPlace) -> None:
    launch(place, times=5)
    assert len({p.pid for p in place.marked()}) == 5
    open_gate(place)
    until(lambda: len(place.marked()) == 1 and place.running(JOB, only(place).token))
    assert [str(p.pid) for p in place.marked()] == [only(place).id]


def test_a_controller_killed_right_after_asking_changes_nothing(place: LocalPlace) -> None:
    place.submit(JOB, SEAT)
    code = f"""
import os, signal
from pathlib import Path
from phalanx.backends.local.backend import LocalBackend
from phalanx.plan.job import JobPlan
from phalanx.state.record import Seat
backend = LocalBackend(Path({str(place.root)!r}), agent={STANDIN!r})
plan = JobPlan(name="demo", command=("none",), nodes=4)
backend.launch(backend.render({JOB!r}, plan, Seat(0, launched_ns=1)))
os.kill(os.getpid(), signal.SIGKILL)
"""
    first = subprocess.run([sys.executable, "-c", code], env=place.environ, check=False)
    assert first.returncode == -signal.SIGKILL
    place.backend.launch(place.backend.render(JOB, place.plan, SEAT))
    open_gate(place)
    until(lambda: len(place.marked()) == 1 and place.running(JOB, only(place).token))


def test_a_task_is_nobodys_child_and_leads_its_session(place: LocalPlace) -> None:
    open_gate(place)
    place.submit(JOB, SEAT)
    task = place.start(JOB, SEAT)
    (process,) = place.marked()
    assert process.pid == process.session == int(task.id)
    assert process.parent != os.getpid()


def test_a_launch_that_comes_after_the_end_starts_nothing(place: LocalPlace) -> None:
    launch(place)
    place.conclude(JOB)
    open_gate(place)
    until(lambda: not place.marked())
    assert place.backend.observe(JOB) == ()


@pytest.mark.parametrize("seat", [Seat(0, 1), Seat(0, 0, 1)], ids=["incarnation", "try"])
def test_a_launch_whose_seat_moved_on_starts_nothing(place: LocalPlace, seat: Seat) -> None:
    launch(place)
    place.submit(JOB, seat)
    open_gate(place)
    until(lambda: not place.marked())
    assert place.backend.observe(JOB) == ()


def test_a_removed_job_does_not_come_back_as_folders(place: LocalPlace) -> None:
    with pytest.raises(BackendError, match="cannot start a task"):
        place.backend.launch(place.backend.render(JOB, place.plan, SEAT))
    assert not (place.root / "jobs").exists()


def test_a_launch_without_a_record_starts_nothing(place: LocalPlace) -> None:
    (place.root / "jobs" / JOB).mkdir(parents=True)
    place.backend.launch(place.backend.render(JOB, place.plan, SEAT))
    open_gate(place)
    until(lambda: not place.marked())
    assert place.backend.observe(JOB) == ()


def test_a_pending_task_can_be_stopped(place: LocalPlace) -> None:
    launch(place, times=2)
    place.backend.stop(only(place), "over", 60.0)
    assert not place.marked()
    assert place.backend.observe(JOB) == ()


def test_a_pending_bootstrap_that_dies_wakes_whoever_waits(place: LocalPlace) -> None:
    launch(place)
    pending = only(place)
    (fd,) = place.backend.wake_fds(JOB)
    place.kill(pending)
    until(lambda: processes.has_ended(fd))
    assert place.backend.observe(JOB) == ()
    assert not place.backend.wake_fds(JOB)


def test_a_secret_is_in_the_agents_environment_and_nowhere_else(place: LocalPlace) -> None:
    value = "correct-horse-battery"
    open_gate(place)
    place.plan = replace(place.plan, secrets=(Secret("HF_TOKEN", "env", "MY_TOKEN"),))
    place.submit(JOB, SEAT)
    place.environ["MY_TOKEN"] = value
    task = place.start(JOB, SEAT)
    environ = Path(f"/proc/{task.id}/environ").read_bytes().split(b"\0")
    assert f"HF_TOKEN={value}".encode() in environ
    held = [p.read_bytes() for p in place.root.rglob("*") if p.is_file()]
    assert held
    assert not any(value.encode() in data for data in held)
    assert value not in place.backend.render(JOB, place.plan, SEAT).body


@pytest.mark.parametrize(
    ("secret", "words"),
    [
        (Secret("HF_TOKEN", "env", "NOT_SET_ANYWHERE"), "NOT_SET_ANYWHERE is not set"),
        (Secret("HF_TOKEN", "ssm", "name"), "environment variables only"),
    ],
    ids=["unset", "other source"],
)
def test_a_secret_that_cannot_be_had_refuses_the_launch(
    place: LocalPlace, secret: Secret, words: str
) -> None:
    request = place.backend.render(JOB, replace(place.plan, secrets=(secret,)), SEAT)
    with pytest.raises(LaunchRefused, match=words):
        place.backend.launch(request)


def test_a_slot_beyond_the_machines_gpus_is_refused(place: LocalPlace) -> None:
    backend = LocalBackend(place.root, environ={**place.environ, "CUDA_VISIBLE_DEVICES": "0,1,2"})
    plan = replace(place.plan, gpus_per_node=2)
    with pytest.raises(LaunchRefused, match="slot needs 2 GPUs, this machine has 1 left"):
        backend.launch(backend.render(JOB, plan, Seat(1)))


def test_names_of_ranks_are_not_inherited(place: LocalPlace) -> None:
    open_gate(place)
    place.environ.update(RANK="3", MASTER_ADDR="10.0.0.1", PHALANX_ATTEMPT="7", LOG_LEVEL="info")
    place.submit(JOB, SEAT)
    task = place.start(JOB, SEAT)
    text = Path(f"/proc/{task.id}/environ").read_text()
    found = dict(item.split("=", 1) for item in text.split("\0") if "=" in item)
    assert not {"RANK", "MASTER_ADDR", "PHALANX_ATTEMPT"} & set(found)
    assert (found["LOG_LEVEL"], found["PHALANX_SLOT"]) == ("info", "0")
    assert (found["PHALANX_ROOT"], found["PHALANX_ADDRESS"]) == (str(place.root), "127.77.0.2")


def test_signals_are_as_in_a_shell(place: LocalPlace) -> None:
    open_gate(place)
    place.submit(JOB, SEAT)
    task = place.start(JOB, SEAT)
    status = Path(f"/proc/{task.id}/status").read_text()
    sets = dict(line.split(":\t") for line in status.splitlines() if line.startswith("Sig"))
    ignored = int(sets["SigIgn"], 16)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        assert not ignored & 1 << (number - 1)
    assert int(sets["SigBlk"], 16) == 0


def test_files_of_a_task_are_private(place: LocalPlace) -> None:
    open_gate(place)
    place.submit(JOB, SEAT)
    task = place.start(JOB, SEAT)
    folder = place.root / "jobs" / JOB / "tasks" / task.token
    assert folder.stat().st_mode & 0o777 == 0o700
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {"pid": 0o600, "request": 0o600, "agent.log": 0o600}


def test_an_agent_that_fails_at_once_says_why_in_its_log(place: LocalPlace) -> None:
    open_gate(place)
    place.script("raise ValueError('no good')")
    launch(place)
    ended = until(lambda: [t for t in place.backend.observe(JOB) if not t.is_alive])
    assert ended[0].exit_code == 1
    log = place.root / "jobs" / JOB / "tasks" / ended[0].token / "agent.log"
    assert "no good" in log.read_text()


def test_a_claim_of_an_earlier_boot_is_a_lost_host(place: LocalPlace) -> None:
    open_gate(place)
    place.submit(JOB, SEAT)
    task = place.start(JOB, SEAT)
    claim = place.root / "jobs" / JOB / "tasks" / task.token / "pid"
    claim.write_text(claim.read_text().replace(processes.boot(), "another-boot/pid:[1]"))
    (told,) = place.controller().observe(JOB)
    assert (told.state, told.failure) == (TaskState.STOPPED, FailureClass.HOST_LOST)


def test_a_reused_pid_is_not_taken_for_the_task(place: LocalPlace) -> None:
    """The claim names a living process that started at another time: ours has ended."""
    open_gate(place)
    place.submit(JOB, SEAT)
    task = place.start(JOB, SEAT)
    place.finish(task, 0)
    until(lambda: not place.marked())
    claim = place.root / "jobs" / JOB / "tasks" / task.token / "pid"
    claim.write_text(claim.read_text().replace(f'"pid": {task.id}', f'"pid": {os.getpid()}'))
    fresh = place.controller()
    (told,) = fresh.observe(JOB)
    assert told.state is TaskState.STOPPED
    fresh.stop(told, "over", 0.0)
    assert fresh.leftovers(JOB, ()) == ()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}'])
def test_a_damaged_claim_is_said_and_not_guessed(place: LocalPlace, text: str) -> None:
    folder = place.root / "jobs" / JOB / "tasks" / ("0" * 32)
    folder.mkdir(parents=True)
    (folder / "pid").write_text(text)
    with pytest.raises(BackendError, match="damaged"):
        place.backend.observe(JOB)


def test_a_root_that_is_gone_is_said_and_not_seen_as_empty(place: LocalPlace) -> None:
    backend = LocalBackend(place.root.parent / "nowhere", environ=place.environ)
    with pytest.raises(BackendError, match="is gone"):
        backend.observe(JOB)


def test_the_bootstrap_is_light() -> None:
    code = "import sys, phalanx.backends.local.claim; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"pydantic", "asyncio", "urllib", "logging", "subprocess", "dataclasses", "ctypes"}
    assert not heavy & set(said.stdout.split())
