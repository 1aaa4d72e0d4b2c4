"""Two people act on one job at once, or one of them presses Ctrl-C: each hears what is true now."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from phalanx.app.jobs import REMOVED, Job, load
from phalanx.app.rest import request_pause, request_resume
from phalanx.app.root import Root
from phalanx.cli.main import call
from phalanx.names import Keys
from phalanx.state.codec import dumps
from phalanx.state.gang import Beat
from phalanx.state.record import PauseRequest, Record, StopRequest
from phalanx.store.store import Store
from phalanx.words import Phase
from tests.support.made_root import T0, MadeRoot, ended_job, record, running_job
from tests.support.waiting import until

PAUSE = PauseRequest(T0, "phalanx pause")
STOP = StopRequest(T0, reason="phalanx stop")
AT_REST = {"phase": Phase.PAUSED, "ending": Phase.PAUSED, "pause": PAUSE, "sweeps": 2}
STOPPED = {"phase": Phase.STOPPED, "ending": Phase.STOPPED, "stop": STOP, "sweeps": 2}


@pytest.fixture
def typed(made: MadeRoot, capfd: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Type a command; `meanwhile` is what the record becomes once nobody is seen to drive it."""

    def run(words: list[str], **meanwhile: object) -> tuple[int, str]:
        def act(root: Root, job: str) -> None:
            now = load(root, job).record
            is_asked = now.pause is None if words[0] == "resume" else now.pause or now.stop
            if is_asked and meanwhile:
                made.put(replace(now, **meanwhile))

        return call([words[0], "gpt-1", *words[1:]], act), capfd.readouterr().err

    return run


def test_a_job_stopped_while_it_was_to_go_on(made, typed):
    made.put(record(**AT_REST))
    code, said = typed(["resume"], **STOPPED)
    assert code == 1
    assert "somebody asked gpt-1 to stop meanwhile: it does not go on; gpt-1 is Stopped" in said
    assert "run its job file again: a new job" in said
    assert "stays" not in said


def test_a_job_paused_again_while_it_was_to_go_on(made, typed):
    made.put(record(**AT_REST))
    code, said = typed(["resume"], pause=PAUSE)
    assert code == 1
    assert "somebody asked gpt-1 to pause again meanwhile; gpt-1 is Paused" in said
    assert "`phalanx resume gpt-1` lets it go on" in said


def test_a_job_that_went_on_and_was_stopped_at_once_did_go_on(made, typed):
    made.put(record(**AT_REST))
    code, said = typed(["resume"], attempt=2, **STOPPED)
    assert (code, said) == (0, "")


def test_a_request_that_nobody_heard_stays(made, typed):
    made.put(record(**AT_REST))
    code, said = typed(["resume", "--timeout", "0"])
    assert code == 1
    assert "gpt-1 is still Paused; the request to go on stays" in said


def test_a_job_let_go_on_while_it_was_to_rest(made, typed):
    made.put(record())
    code, said = typed(["pause"], pause=None)
    assert code == 1
    assert "somebody let gpt-1 go on meanwhile, so it does not rest; gpt-1 is Running" in said
    assert "`phalanx pause gpt-1` asks again" in said


def test_a_job_stopped_while_it_was_to_rest(made, typed):
    made.put(record())
    code, said = typed(["pause"], **STOPPED)
    assert code == 1
    assert "somebody asked gpt-1 to stop meanwhile: it ends instead of resting" in said
    assert "gpt-1 is Stopped" in said


def test_a_job_done_while_it_was_to_rest(made, typed):
    made.put(record())
    code, said = typed(["pause"], phase=Phase.SUCCEEDED, sweeps=2, ended_ns=T0)
    assert code == 1
    assert "gpt-1 ended before it could rest; gpt-1 is Succeeded" in said


@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_a_paused_job_that_was_asked_to_stop_is_not_said_to_go_on(phalanx, made, verb):
    message = "nothing runs; `phalanx resume gpt-1` goes on from 0000000040-0"
    made.put(record(stop=STOP, message=message, **AT_REST))
    answer = phalanx(verb, "gpt-1")
    assert answer.code == 2
    said = "gpt-1 is being ended: it is Paused and was asked to stop (phalanx stop)"
    assert said in answer.err
    assert "`phalanx wait gpt-1`" in answer.err
    assert "goes on" not in answer.err


def test_a_second_stop_says_that_it_is_the_second(phalanx, made):
    running_job(made)
    made.put(record(stop=STOP))
    answer = phalanx("stop", "gpt-1", "--timeout", "0")
    assert answer.code == 1
    assert "gpt-1 was asked to stop before (phalanx stop); it is Running" in answer.err


def test_a_job_that_was_removed_while_somebody_waited(made, typed):
    made.put(record())

    def remove(root: Root, job: str) -> None:
        if load(root, job).record.stop is not None:
            made.store.create(f"{REMOVED}/{job}", b"{}")
            made.store.delete(Keys(job).base)

    assert call(["stop", "gpt-1"], remove) == 4


def test_how_a_removed_job_is_told(made, capfd):
    ended_job(made, sweeps=0)

    def remove(root: Root, job: str) -> None:
        made.store.create(f"{REMOVED}/{job}", b"{}")
        made.store.delete(Keys(job).base)

    assert call(["rm", "gpt-1"], remove) == 4
    said = capfd.readouterr().err
    assert "gpt-1 had ended, and somebody removed it meanwhile (`phalanx rm`)" in said


class Eager(Store):
    """Right after a request was written, somebody else replaces the record."""

    def __init__(self, store: Store, then: Callable[[Record], Record]) -> None:
        super().__init__(store.objects, "eager:1")
        self._then = then

    def swap(self, key: str, body: bytes, version: str | None) -> str | None:
        won = super().swap(key, body, version)
        now = load(Root(self, ""), "gpt-1")
        super().swap(key, dumps(self._then(now.record)), now.version)
        return won


def as_seen_by(made: MadeRoot, then: Callable[[Record], Record]) -> Job:
    job = load(made.root, "gpt-1")
    return replace(job, root=Root(Eager(made.store, then), made.root.folder))


def test_a_request_that_was_heard_at_once_is_no_error(made):
    made.put(record(**AT_REST))
    opened = as_seen_by(made, lambda r: replace(r, phase=Phase.RUNNING, ending=None, attempt=2))
    assert request_resume(opened).record.attempt == 2
    ended = as_seen_by(made, lambda r: replace(r, phase=Phase.SUCCEEDED))
    assert request_pause(ended).record.phase is Phase.SUCCEEDED


def test_somebody_else_was_faster_to_let_it_go_on(made):
    made.put(record(**AT_REST))
    mine = load(made.root, "gpt-1")
    made.put(record(attempt=2))
    assert request_resume(mine).record.attempt == 2


def test_resume_says_what_cannot_be_read(phalanx, made):
    old, new = "0000000020-0", "0000000040-0"
    made.head("gpt-1", 0, old)
    made.head("gpt-1", 0, new)
    made.store.delete(Keys("gpt-1").manifest(new))
    made.put(record(**AT_REST, attempt=0))
    answer = phalanx("resume", "gpt-1", "--timeout", "0")
    assert f"phalanx: checkpoint {new} ({new} has no manifest) cannot be read; attempt 1" in (
        answer.err
    )
    assert f"unreadable  checkpoint {new}" in phalanx("status", "gpt-1").out
    assert json.loads(phalanx("status", "gpt-1", "--json").out)["passed_over"][0]["attempt"] == 1


def test_what_is_waited_for_is_said_once_by_whoever_waits(phalanx, made):
    running_job(made)
    waits = "saving the last checkpoint: 4,210 of 9,000 files"
    made.beat("gpt-1", Beat(0, 0, 1, 80, 200, waits=waits))
    for words in (["wait"], ["stop"], ["pause"]):
        made.put(record())
        answer = phalanx(*words, "gpt-1", "--timeout", "0.5")
        assert answer.err.count(f"phalanx: gpt-1: {waits}\n") == 1, answer.err
    assert f"waiting     {waits}" in phalanx("status", "gpt-1").out
    assert waits in [
        item["says"] for item in json.loads(phalanx("why", "gpt-1", "--json").out)["evidence"]
    ]


PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from phalanx.cli.main import call
sys.exit(call(sys.argv[1:], lambda root, job: print("asked", flush=True)))
"""
CASES = {
    "pause": (
        "the request to pause gpt-1 is recorded and goes on; `phalanx status gpt-1 --root {root}`"
        " shows it, `phalanx resume gpt-1 --root {root}` takes it back"
    ),
    "resume": (
        "the request to let gpt-1 go on is recorded; `phalanx status gpt-1 --root {root}` shows it,"
        " `phalanx pause gpt-1 --root {root}` takes it back"
    ),
    "stop": (
        "the request to stop gpt-1 is recorded and goes on; `phalanx status gpt-1 --root {root}`"
        " shows it"
    ),
    "rm": "nothing was removed",
}


@pytest.mark.parametrize("verb", CASES)
def test_ctrl_c_says_what_was_asked_and_goes_on(made, verb):
    before = {"resume": record(**AT_REST), "rm": record(phase=Phase.STOPPED, ended_ns=T0)}
    made.put(before.get(verb, record()))
    words = [sys.executable, "-c", PROGRAM, verb, "gpt-1", "--root", str(made.path)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        assert process.stdout is not None

        def is_asked() -> bool:
            now = load(made.root, "gpt-1").record
            done = {"pause": now.pause, "stop": now.stop, "resume": now.pause is None, "rm": True}
            return bool(done[verb])

        assert process.stdout.readline() == "asked\n"
        until(is_asked)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "phalanx: interrupted: " + CASES[verb].format(root=made.path)
    assert is_asked()
