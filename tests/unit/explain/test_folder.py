"""A job's folder under a root."""

from __future__ import annotations

import pytest

from phalanx.errors import InputError
from phalanx.explain.explain import explain
from phalanx.explain.reading import Input
from phalanx.plan.job import JobPlan
from phalanx.state.codec import dumps
from phalanx.state.gang import End, RankEnd
from phalanx.state.record import Cause, PastAttempt, Record, Seat
from phalanx.words import FailureClass, Outcome, Phase

GLOO = "RuntimeError: Connection closed by peer [10.0.0.7]:4321"


def record(**own: object) -> Record:
    plan = JobPlan("gpt", ("python", "train.py"), nodes=2)
    seats = (Seat(0), Seat(1))
    return Record("gpt-1", plan, 1, attempt=1, seats=seats, **own)  # type: ignore[arg-type]


def ends(attempt: int) -> list[Input]:
    zero = End(
        0, 0, attempt, Outcome.FAILED, (RankEnd(0, 0, 11, exit_code=1, error=GLOO),), at_ns=5
    )
    one = End(1, 0, attempt, Outcome.FAILED, (RankEnd(1, 0, 12, signal=9),), at_ns=9)
    base = f"root/jobs/gpt-1/attempts/{attempt}/ends"
    return [Input(f"{base}/0.0", dumps(zero)), Input(f"{base}/1.0", dumps(one))]


def test_the_first_cause_is_that_of_the_verdict_room() -> None:
    given = [Input("root/jobs/gpt-1/record", dumps(record(phase=Phase.RUNNING))), *ends(1)]
    answer = explain(given).plain()
    causes = [(t["rank"], t["class"]) for t in answer["tasks"] if t["first_cause"]]
    assert causes == [(1, "Killed")]
    assert answer["findings"][0]["slug"] == "first-cause"
    assert "SIGKILL" in answer["findings"][0]["message"]
    assert answer["decision"]["next"] == "none"


def test_history_and_a_failed_job() -> None:
    past = PastAttempt(0, 5, Cause(FailureClass.HOST_LOST, "the host is gone", 1), False)
    cause = Cause(FailureClass.OUT_OF_MEMORY, "rank 0 ran out", 0, 0)
    failed = record(phase=Phase.FAILED, message="out of memory", history=(past,), cause=cause)
    answer = explain([Input("record", dumps(failed))]).plain()
    assert [f["where"] for f in answer["findings"]] == ["attempt 0", "attempt 1"]
    assert answer["decision"]["next"] == "fail"
    assert answer["decision"]["job"] == "gpt-1"


def test_logs_beside_the_record_are_read_and_its_sources_are_not() -> None:
    given = [
        Input("j/record", dumps(record())),
        Input("j/logs/0.0.log", b"torch.OutOfMemoryError: CUDA out of memory. Tried 2 GiB\n"),
        Input("j/source/train.py", b"raise OSError('No space left on device')\n"),
    ]
    slugs = {f["slug"] for f in explain(given).plain()["findings"]}
    assert "cuda-out-of-memory" in slugs
    assert "diagnose-disk-full" not in slugs


def test_a_broken_record_is_one_line() -> None:
    with pytest.raises(InputError, match="is not a job's record"):
        explain([Input("jobs/x/record", b'{"job": 1')])


def test_the_folders_of_a_file_store() -> None:
    """Versions of the record side by side, each object under a line about its writer."""
    line = b'{"writer":"host-1","n":3}\n'
    old, new = record(phase=Phase.RUNNING), record(phase=Phase.STOPPED, message="asked for")
    given = [
        Input("j/record/00000009", line + dumps(old)),
        Input("j/record/00000010", line + dumps(new)),
        Input("j/logs/0.0-0/0.err.0", b"OSError: [Errno 28] No space left on device\n"),
        Input("j/logs/0.0-1/0.err.0", b"ValueError: bad shape\n"),
        Input("j/logs/0.0-1/0.err.0.idx", b"No space left on device\n"),
        *[Input(f"j/attempts/1/ends/{e.file[-3:]}", line + e.data) for e in ends(1)],
    ]
    answer = explain(given).plain()
    assert answer["decision"]["reason"] == "the job is Stopped: asked for"
    slugs = [f["slug"] for f in answer["findings"]]
    assert slugs.count("first-cause") == 1
    assert "python-exception" in slugs
    assert "diagnose-disk-full" not in slugs
