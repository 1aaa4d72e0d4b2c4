"""What a rank's last lines say, also below a launcher that has its own."""

from __future__ import annotations

from phalanx.agent.ranks import LAST_LINES, _last_lines

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
        lines = _last_lines((said + FOOTER).encode()).splitlines()
        assert lines[-1] == "FileNotFoundError: [Errno 2] No such file or directory: 'data.pt'"
        assert len(lines) == LAST_LINES + 1


def test_a_rank_that_was_killed_raised_nothing() -> None:
    assert _last_lines(FOOTER.encode()).splitlines() == FOOTER.splitlines()[-LAST_LINES:]


def test_without_a_launcher_the_last_lines_are_as_they_were() -> None:
    text = "ValueError: first\nafter it\n\n"
    assert _last_lines(text.encode()) == "ValueError: first\nafter it"
