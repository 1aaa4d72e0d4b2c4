"""What a rank's last lines say, also below a launcher that has its own."""

from __future__ import annotations

from phalanx.agent.last_words import LAST_LINES, last_lines
from phalanx.verdict.ranks import classify_text
from phalanx.words import FailureClass

FOOTER = """\
E1201 14:50:24.1 elastic/multiprocessing/api.py:1000] failed (exitcode: 1) local_rank: 0
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
Root Cause (first observed failure):
  exitcode  : 1 (pid: 3445)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
"""


def test_the_exception_of_a_rank_below_torchrun_comes_last() -> None:
    raised = "[rank0]: FileNotFoundError: [Errno 2] No such file or directory: 'data.pt'\n"
    for said in (raised, raised.removeprefix("[rank0]: ")):
        lines = last_lines((said + FOOTER).encode()).splitlines()
        assert lines[-1] == "FileNotFoundError: [Errno 2] No such file or directory: 'data.pt'"
        assert len(lines) == LAST_LINES + 1


KILLED = """\
[rank0]: Traceback (most recent call last):
[rank0]: RuntimeError: [gloo/transport/tcp/pair.cc:537] Read error: Connection reset by peer
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
train.py FAILED
Failures:
[1]:
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 20255)  (SIGTERM)
  traceback : Signal 15 (SIGTERM) received by PID 20255
Root Cause (first observed failure):
[0]:
  time      : 2026-12-01_18:05:28
  host      : localhost
  rank      : 1 (local_rank: 1)
  exitcode  : -9 (pid: 20256)  (SIGKILL)
  error_file: <N/A>
  traceback : Signal 9 (SIGKILL) received by PID 20256
=======================================================
"""


def test_a_killed_rank_is_the_cause_and_not_the_error_of_the_one_that_lost_its_peer() -> None:
    said = last_lines(KILLED.encode())
    assert (
        said.splitlines()[-1] == "rank 1 below torchrun: Signal 9 (SIGKILL) received by PID 20256"
    )
    assert classify_text(said) is FailureClass.KILLED


def test_of_several_exceptions_that_of_the_first_rank_to_fail_is_the_cause() -> None:
    both = (
        "[rank1]: ValueError: bad sample 7\n"
        "[rank0]: RuntimeError: Connection closed by peer [127.0.0.1]:18109\n"
    )
    root = FOOTER.replace("  exitcode", "  rank      : 1 (local_rank: 1)\n  exitcode")
    assert last_lines((both + root).encode()).splitlines()[-1] == "ValueError: bad sample 7"


def test_a_rank_that_was_killed_raised_nothing() -> None:
    assert last_lines(FOOTER.encode()).splitlines() == FOOTER.splitlines()[-LAST_LINES:]


def test_without_a_launcher_the_last_lines_are_as_they_were() -> None:
    text = "ValueError: first\nafter it\n\n"
    assert last_lines(text.encode()) == "ValueError: first\nafter it"
