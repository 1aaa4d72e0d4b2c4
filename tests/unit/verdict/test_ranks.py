"""Classes of single endings."""

from __future__ import annotations

import pytest

from phalanx.state.gang import RankEnd
from phalanx.verdict.advice import ADVICE
from phalanx.verdict.ranks import classify_rank, classify_text, last_words, signal_of
from phalanx.words import FailureClass as F

GLOO = (
    "[rank0]: Traceback (most recent call last):\n"
    "[rank0]:   File 'train.py', line 9, in <module>\n"
    "[rank0]: RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] "
    "Connection closed by peer [10.0.0.7]:4321\n"
)


def end(**kw: object) -> RankEnd:
    return RankEnd(rank=0, local_rank=0, pid=7, **kw)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ({"exit_code": 0}, None),
        ({"exit_code": 1}, F.NON_ZERO_EXIT),
        ({}, F.UNKNOWN),
        ({"signal": 9}, F.KILLED),
        ({"exit_code": 137}, F.KILLED),
        ({"exit_code": -9}, F.KILLED),
        ({"signal": 9, "error": "memory.events: oom_kill 1"}, F.OUT_OF_MEMORY),
        ({"signal": 11}, F.KILLED),
        ({"signal": 6, "error": "Watchdog caught collective operation timeout"}, F.NETWORK_FAULT),
        ({"exit_code": 1, "error": GLOO}, F.NETWORK_FAULT),
        (
            {"exit_code": 1, "error": "torch.OutOfMemoryError: CUDA out of memory. Tried 2 GiB"},
            F.OUT_OF_MEMORY,
        ),
        ({"exit_code": 1, "error": "MemoryError"}, F.OUT_OF_MEMORY),
        (
            {"exit_code": 1, "error": "RuntimeError: CUDA error: device-side assert triggered"},
            F.GPU_FAULT,
        ),
        (
            {"exit_code": 1, "error": "RuntimeError: CUDA error: uncorrectable ECC error"},
            F.GPU_FAULT,
        ),
        (
            {"exit_code": 1, "error": "RuntimeError: CUDA error: invalid device ordinal"},
            F.NON_ZERO_EXIT,
        ),
        ({"exit_code": 1, "error": "NVRM: Xid (PCI:0000:53:00): 79, pid=9"}, F.GPU_FAULT),
        ({"exit_code": 1, "error": "NVRM: Xid (PCI:0000:53:00): 13, pid=9"}, F.NON_ZERO_EXIT),
        ({"exit_code": 1, "error": "Xid 63 on GPU 0000:53:00"}, F.NON_ZERO_EXIT),
        ({"exit_code": 1, "error": "OSError: [Errno 28] No space left on device"}, F.DISK_FULL),
        (
            {"exit_code": 1, "error": "torch.distributed.DistStoreError: wait timeout after 9ms"},
            F.RENDEZVOUS_TIMEOUT,
        ),
        ({"exit_code": 1, "failure": F.HANG}, F.HANG),
        ({"exit_code": 127, "error": "sh: 1: pyhton: not found"}, F.BAD_COMMAND),
        ({"exit_code": 126}, F.BAD_COMMAND),
        ({"exit_code": 127, "step": 1}, F.NON_ZERO_EXIT),
        ({"exit_code": 127, "error": "bash: fork: Cannot allocate memory"}, F.OUT_OF_MEMORY),
    ],
)
def test_class_of_a_rank(given: dict[str, object], right: F | None) -> None:
    assert classify_rank(end(**given)) is right


def test_an_old_warning_does_not_hide_the_last_exception() -> None:
    text = "warning: Connection reset by peer, retrying\nTraceback ...\nValueError: bad shape"
    assert classify_rank(end(exit_code=1, error=text)) is F.NON_ZERO_EXIT
    assert last_words(text) == "ValueError: bad shape"


def test_the_first_exception_of_a_chain_is_what_happened() -> None:
    text = (
        "torch.OutOfMemoryError: CUDA out of memory\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        "RuntimeError: Connection closed by peer\n"
    )
    assert classify_text(text) is F.OUT_OF_MEMORY


def test_a_handled_memory_error_is_not_claimed_for_a_kill() -> None:
    assert classify_rank(end(signal=15, error="DistNetworkError: Broken pipe")) is F.KILLED


@pytest.mark.parametrize("code", [1, 2, 127, 128, 255, 254, 200])
def test_exit_codes_that_are_no_signals(code: int) -> None:
    assert signal_of(code, None) is None


def test_every_class_has_advice() -> None:
    assert set(ADVICE) == set(F)
    assert all(a.means and a.phalanx and a.person for a in ADVICE.values())


TORCHRUN = """\
  time      : 2026-01-01_00:00:00
  rank      : 1 (local_rank: 0)
  exitcode  : -9 (pid: 4242)
  error_file: <N/A>
  traceback : Signal 9 (SIGKILL) received by PID 4242
============================================================
"""


def test_the_summary_of_torchrun_tells_of_a_kill() -> None:
    assert classify_text(TORCHRUN) is F.KILLED
    assert last_words(TORCHRUN) == "traceback : Signal 9 (SIGKILL) received by PID 4242"
