"""Verbs that act: stop, wait, init, run; a thread stands in for the controller."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from phalanx.agent.departure import Departure, pause, stop_save
from phalanx.app.jobs import load
from phalanx.names import Keys
from phalanx.plan.job import CheckpointPlan
from phalanx.state.record import PauseRequest, StopRequest
from phalanx.words import Phase
from tests.support.made_root import KILLED, SECOND, T0, ended_job, plan, record, running_job
from tests.support.mounts import tiny


@contextmanager
def stopping_controller(made, job: str) -> Iterator[list[bool]]:
    """Turns the job Stopped once its record holds a stop request; notes whether to save."""
    seen: list[bool] = []

    def drive() -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            made.drive(job)
            value = load(made.root, job).record
            if value.stop is not None:
                seen.append(value.stop.save)
                stopped = record(
                    job,
                    phase=Phase.STOPPED,
                    reason="StopRequested",
                    message="asked to stop",
                    stop=value.stop,
                    sweeps=2,
                    ended_ns=T0 + 40 * SECOND,
                )
                made.put(stopped)
                return
            time.sleep(0.02)

    thread = threading.Thread(target=drive)
    thread.start()
    try:
        yield seen
    finally:
        thread.join()


@pytest.mark.parametrize("save", [False, True])
def test_stop_asks_and_waits_until_the_phase_is_stopped(phalanx, made, save):
    running_job(made)
    with stopping_controller(made, "gpt-1") as seen:
        answer = phalanx("stop", "gpt-1", "--json", *(["--save"] if save else []))
    assert answer.code == 0
    assert json.loads(answer.out)["phase"] == "Stopped"
    assert seen == [save]
    told = "phalanx: no last save was made; step 40 is the newest that is saved\n"
    assert (told in answer.err) == save


@pytest.mark.parametrize("verb", ["stop", "pause"])
def test_a_declined_last_save_is_told_with_what_is_saved(phalanx, made, verb):
    running_job(made)
    watched = plan(checkpoint=CheckpointPlan(mode="watch"))
    if verb == "stop":
        asked = {"phase": Phase.STOPPED, "stop": StopRequest(T0, save=True)}
    else:
        asked = {"phase": Phase.PAUSED, "ending": Phase.PAUSED, "pause": PauseRequest(T0)}
    made.put(record(plan=watched, sweeps=2, **asked))
    departure = Departure(stop_save(9) if verb == "stop" else pause(9), [])
    departure.declined = "the script saves when it wants to"
    departure.keep(made.store, Keys("gpt-1"), (0, 0, 1))
    words = ["--save"] if verb == "stop" else []
    answer = phalanx(verb, "gpt-1", "--timeout", "0", *words)
    assert (
        "phalanx: the last save was declined: the script saves when it wants to;"
        " step 40 is the newest that is saved\n"
    ) in answer.err


def test_stop_of_an_ended_job_says_so_and_changes_nothing(phalanx, made):
    ended_job(made, sweeps=2)
    answer = phalanx("stop", "gpt-1")
    assert answer.code == 0
    assert "has ended before: Succeeded" in answer.err
    assert load(made.root, "gpt-1").record.stop is None


def test_stop_that_nobody_answers_gives_up_after_its_timeout(phalanx, made, starts):
    made.put(record())
    answer = phalanx("stop", "gpt-1", "--timeout", "0")
    assert answer.code == 1
    assert "still Running" in answer.err
    assert load(made.root, "gpt-1").record.stop is not None
    assert "gpt-1" in starts


def test_a_second_stop_may_add_save_but_never_takes_it_back(phalanx, made):
    running_job(made)
    saves = []
    for words in (["--save"], []):
        phalanx("stop", "gpt-1", "--timeout", "0", *words)
        stop = load(made.root, "gpt-1").record.stop
        assert stop is not None
        saves.append(stop.save)
    assert saves == [True, True]


@pytest.mark.parametrize(
    ("phase", "code"), [(Phase.SUCCEEDED, 0), (Phase.FAILED, 1), (Phase.STOPPED, 1)]
)
def test_wait_exits_by_the_phase(phalanx, made, phase, code):
    cause = KILLED if phase is Phase.FAILED else None
    ended_job(made, phase=phase, cause=cause)
    answer = phalanx("wait", "gpt-1")
    assert answer.code == code
    assert answer.out.startswith(f"gpt-1 {phase.value} at step 200/200")


def test_wait_gives_up_after_its_timeout(phalanx, made):
    running_job(made)
    answer = phalanx("wait", "gpt-1", "--timeout", "0", "--json")
    assert answer.code == 1
    assert json.loads(answer.out)["phase"] == "Running"
    assert answer.err == "phalanx: gpt-1 is still Running after 0 s\n"


def test_wait_notices_that_the_root_has_gone(phalanx, made):
    running_job(made)
    timer = threading.Timer(0.3, made.store.delete, ["jobs/gpt-1"])
    timer.start()
    answer = phalanx("wait", "gpt-1", "--timeout", "20")
    timer.join()
    assert answer.code == 4
    assert "has gone" in answer.err


def test_init_writes_two_files_and_never_overwrites(phalanx, tmp_path):
    folder = tmp_path / "new"
    answer = phalanx("init", str(folder))
    assert answer.code == 0
    assert sorted(p.name for p in folder.iterdir()) == ["job.yaml", "train.py"]
    assert answer.err == f"next: phalanx run {folder}/job.yaml\n"
    (folder / "train.py").write_text("mine")
    answer = phalanx("init", str(folder))
    assert answer.code == 2
    assert "exist already" in answer.err
    assert (folder / "train.py").read_text() == "mine"


def test_init_where_nothing_can_be_written(phalanx, tmp_path):
    (tmp_path / "file").touch()
    answer = phalanx("init", str(tmp_path / "file" / "new"))
    assert answer.code == 4
    says = f"cannot be written: {tmp_path}/file is no folder (name another place)"
    assert answer.err == f"phalanx: {tmp_path}/file/new {says}\n"


def test_init_on_a_full_disk_leaves_neither_file(phalanx, tmp_path):
    with tiny(tmp_path / "disk", "size=4k") as disk:
        answer = phalanx("init", str(disk))
        assert answer.code == 4
        assert "the disk is full (free some space, or name another place)" in answer.err
        assert list(disk.iterdir()) == []


WITHOUT_SOURCE = "kind: train\nname: a\ncommand: [sh, -c, 'true']\nsource: null\n"


@pytest.mark.parametrize(
    ("more", "sets", "says"),
    [
        ("init_from: {weights: w}\n", (), "job.yaml:5:22: init_from.weights: "),
        ("init_from:\n  job: nope\n", (), "job.yaml:6:8: there is no job nope"),
        ("", ("init_from.job=nope",), "--set init_from.job: there is no job nope"),
        ("", ("init_from.weights=w",), "--set init_from.weights: "),
        ("", ("command[0]=nope",), "--set command[0]: the program 'nope' is not to be found"),
        ("", ("command=[nope]",), "--set command: the program 'nope' is not to be found"),
        ("", ("command[2]=s3cret-word-of-mine",), "--set command[2]: holds the value of MY_TOKEN"),
        ("env:\n  A: s3cret-word-of-mine\n", (), "job.yaml:6:6: env.A holds the value of MY_TOKEN"),
        ("", ("source=nowhere",), "--set source: there is no folder "),
        ("", ("source=.", "working_directory=no"), "--set working_directory: 'no' is not a folder"),
        (
            "",
            ("notify[0].command=[nope]",),
            "--set notify[0].command: the program 'nope' is not to be found",
        ),
    ],
)
def test_what_turns_out_wrong_later_is_told_where_it_was_said(
    phalanx, made, tmp_path, monkeypatch, more, sets, says
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_TOKEN", "s3cret-word-of-mine")
    Path("job.yaml").write_text(WITHOUT_SOURCE + more)
    Path("w").mkdir()
    Path("w/model.safetensors").write_bytes(b"\xff" * 20)
    answer = phalanx("run", "job.yaml", *(word for text in sets for word in ("--set", text)))
    assert answer.code == 2
    assert answer.err.startswith(f"phalanx: {says}")
    assert answer.err.count("\n") == 1
    assert not list(tmp_path.glob("root/jobs/*"))


def test_init_json(phalanx, tmp_path):
    view = json.loads(phalanx("init", str(tmp_path), "--json").out)
    assert view["schema"] == "phalanx.init/1"
    assert len(view["files"]) == 2


JOB = "kind: train\nname: tiny\ncommand: [python, train.py]\nsource: null\ntotal_steps: 5\n"


@pytest.fixture
def job_file(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text(JOB)
    return str(path)


def test_run_detached_makes_a_record_and_starts_a_controller(phalanx, made, starts, job_file):
    first = phalanx("run", job_file, "--detach")
    second = phalanx("run", job_file, "--detach", "--json", "--set", "nodes=2")
    assert (first.code, first.out) == (0, "tiny-1\n"), first.err
    assert json.loads(second.out) == {"schema": "phalanx.run/1", "job": "tiny-2"}
    assert starts == ["tiny-1", "tiny-2"]
    made_record = load(made.root, "tiny-2").record
    assert [seat.slot for seat in made_record.seats] == [0, 1]
    assert made_record.plan.total_steps == 5


def test_run_follows_to_the_end_and_exits_by_it(phalanx, made, job_file):
    def end(root, job):
        made.drive(job)
        value = load(root, job).record
        made.put(record(job, plan=value.plan, phase=Phase.FAILED, cause=KILLED, ended_ns=T0))

    from phalanx.cli.main import call

    assert call(["run", job_file], end) == 1


def test_run_tells_what_happens_once(made, job_file, capfd):
    def end(root, job):
        value = load(root, job).record
        made.put(record(job, plan=value.plan, phase=Phase.SUCCEEDED, ended_ns=T0 + SECOND))
        made.world(job, 1, 40, 0, 1)
        made.log(job, "0.0-1/0.out.0", b"hello\n", (0, T0))

    from phalanx.cli.main import call

    assert call(["run", job_file, "--logs"], end) == 0
    out, err = capfd.readouterr()
    assert out.splitlines()[:2] == ["tiny-1", "[0/0] hello"]
    assert out.splitlines()[2].startswith("tiny-1 Succeeded")
    assert err.count("attempt 0 ended: Killed: rank 1 (slot 1) was killed by SIGKILL") == 1
    assert err.count("attempt 1: 2 ranks agreed to go on from step 40") == 1


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["missing.yaml"], 2, "missing.yaml: no such file"),
        (["{job}", "--set", "nodess=2"], 2, "nodes"),
        (["{job}", "--target", "ecs"], 3, "ecs"),
        (["{job}", "--root", "s3://b/p"], 2, "folders only"),
    ],
)
def test_what_cannot_start_is_refused_before_a_job_exists(
    phalanx, made, job_file, starts, words, code, says
):
    answer = phalanx("run", "--detach", *(word.format(job=job_file) for word in words))
    assert answer.code == code, answer.err
    assert says in answer.err
    assert answer.err.count("\n") == 1
    assert answer.out == ""
    assert starts == []
    assert made.store.list("jobs") == ()
