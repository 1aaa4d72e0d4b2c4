"""Messages are claimed: several processes tell each once; what a dead one left is told too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from phalanx.app.jobs import load
from phalanx.app.messages import owes_messages, seen_messages
from phalanx.controller.line import LEASE_S, Line
from phalanx.controller.sending import Answer
from phalanx.names import Keys
from phalanx.plan.job import Receiver as Asked
from phalanx.state import codec
from phalanx.state.messages import Claim, Message
from phalanx.state.record import Cause, PastAttempt
from phalanx.words import FailureClass, Phase
from tests.support.made_root import SECOND, T0, MadeRoot, plan, record
from tests.support.receiver import Receiver
from tests.support.waiting import until

TELL = Path(__file__).parents[2] / "support" / "tell.py"
RESTARTS = 12
SECRET = "AWS_SECRET_ACCESS_KEY=" + "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"
JOB = "gpt-1"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as one:
        yield one


@pytest.fixture
def made(tmp_path: Path) -> MadeRoot:
    return MadeRoot(tmp_path / "root")


@pytest.fixture
def tellers(made: MadeRoot) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that tell; none outlives the test."""
    started: list[subprocess.Popen[str]] = []
    yield started
    for one in started:
        one.kill()
        one.wait()
        assert one.stdout is not None
        one.stdout.close()


def start(made: MadeRoot, tellers: list[subprocess.Popen[str]]) -> subprocess.Popen[str]:
    words = [sys.executable, str(TELL), str(made.path), JOB]
    one = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    tellers.append(one)
    assert one.stdout is not None
    assert one.stdout.readline() == "at work\n"
    return one


def ended(made: MadeRoot, url: str, *, restarts: int = 0) -> None:
    cause = Cause(FailureClass.KILLED, f"rank 1 was killed, {SECRET}")
    history = tuple(PastAttempt(n, T0 + n, cause, True) for n in range(restarts))
    notify = (Asked("webhook", (url,), ("ended", "restarted")),)
    made.put(
        record(
            JOB,
            plan=plan(notify=notify),
            phase=Phase.SUCCEEDED,
            attempt=restarts,
            history=history,
            ended_ns=T0 + 30 * SECOND,
        )
    )


def test_four_processes_tell_each_message_once(
    made: MadeRoot, receiver: Receiver, tellers: list[subprocess.Popen[str]]
) -> None:
    ended(made, receiver.url, restarts=RESTARTS)
    assert owes_messages(load(made.root, JOB))
    for one in [start(made, tellers) for _ in range(4)]:
        assert one.wait(60) == 0
    assert len(receiver.got) == RESTARTS + 1
    assert set(receiver.events().values()) == {1}
    assert not any("wJalrX" in words["message"] for words in receiver.got)
    job = load(made.root, JOB)
    assert not owes_messages(job)
    assert {seen.state for seen in seen_messages(job)} == {"sent"}


def test_what_a_dead_claimer_left_is_told_by_another_under_the_same_key(
    made: MadeRoot, receiver: Receiver, tellers: list[subprocess.Popen[str]]
) -> None:
    ended(made, receiver.url)
    receiver.hangs = True
    first = start(made, tellers)
    until(lambda: receiver.got)
    second = start(made, tellers)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    receiver.hangs = False
    assert second.wait(60) == 0
    assert len(receiver.keys) == 2
    assert len(set(receiver.keys)) == 1
    (seen,) = seen_messages(load(made.root, JOB))
    assert seen.state == "sent"


def one_message(made: MadeRoot) -> Message:
    ended(made, "http://127.0.0.1:1/a-secret-token")
    return Message("ended-0", 0, "ended", "Succeeded", "AllRanksDone", "done", 0, T0)


def line(made: MadeRoot, *answers: Answer) -> tuple[Line, list[str], list[str]]:
    """A line whose receiver gives these answers, in order; what was sent, and what was said."""
    sent: list[str] = []
    said: list[str] = []

    def send(message: Message) -> Answer:
        sent.append(message.name)
        return answers[min(len(sent), len(answers)) - 1]

    return Line(made.store, Keys(JOB), send, said.append), sent, said


def test_a_refusal_that_may_pass_is_tried_again(made: MadeRoot) -> None:
    message = one_message(made)
    one, sent, said = line(made, Answer(False, False, "it answered 503"), Answer(True, True, "ok"))
    one.offer(message)
    one.offer(message)
    until(lambda: one.is_idle)
    assert sent == ["ended-0"] * 2
    assert said == ["the message ended-0 was sent: ok"]
    (seen,) = seen_messages(load(made.root, JOB))
    assert seen.sent is not None
    assert (seen.state, seen.sent.tries) == ("sent", 2)


def test_a_final_refusal_is_kept_and_never_tried_again(made: MadeRoot) -> None:
    message = one_message(made)
    one, sent, _ = line(made, Answer(False, True, "it answered 404"))
    one.offer(message)
    until(lambda: one.is_idle)
    other, sent_by_other, _ = line(made, Answer(True, True, "ok"))
    other.offer(message)
    until(lambda: other.is_idle)
    assert (sent, sent_by_other) == (["ended-0"], [])
    job = load(made.root, JOB)
    (seen,) = seen_messages(job)
    assert seen.sentence() == (
        "the message ended-0 to http://127.0.0.1:1/... was not delivered: it answered 404"
    )
    assert not owes_messages(job)


@pytest.mark.parametrize("is_over", [False, True])
def test_a_claim_of_another_host_holds_until_its_lease_is_over(
    made: MadeRoot, is_over: bool
) -> None:
    message = one_message(made)
    age_ns = int((LEASE_S + 1) * SECOND) if is_over else 0
    claim = Claim("elsewhere", 1, "another-host", made.store.now_ns() - age_ns)
    made.store.create(Keys(JOB).message_claim("ended-0", 0), codec.dumps(claim))
    one, sent, _ = line(made, Answer(True, True, "ok"))
    one.offer(message)
    if is_over:
        until(lambda: one.is_idle)
    # The line has looked by the time that a second message is told.
    other = Message("limit-max_runtime-0", 0, "limit", "Running", "LimitNear", "near", 0, T0)
    one.offer(other)
    until(lambda: other.name in sent)
    assert ("ended-0" in sent) is is_over
