"""What a program reports and survives is no end, and what ends it stays one."""

from __future__ import annotations

from typing import Any

import pytest

from phalanx.explain.explain import explain
from phalanx.explain.reading import Input

DONE = "2026-11-21T12:30:00 INFO Training complete, exit 0\n"
TRACE = 'Traceback (most recent call last):\n  File "/app/t.py", line 9, in f\n    g()\n'
KERNEL = "[ 99.1] Memory cgroup out of memory: Killed process 4411 (python)\n"
PEER = "[rank0]: RuntimeError: [pair.cc:534] Connection closed by peer [10.0.0.7]:4321\n"
STORE = (
    "[rank0]:[W1121 12:00:00.1 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=3): "
    "Connection reset by peer\n"
)
LEFT = (
    "[rank0]:[W1121 12:00:00.1 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT "
    "been destroyed before we destruct ProcessGroupNCCL.\n"
)


def answer(text: str) -> dict[str, Any]:
    return explain([Input("x.log", text.encode())]).plain()


def told(text: str) -> list[tuple[str, str, int]]:
    return [(f["slug"], f["severity"], f["line"]) for f in answer(text)["findings"]]


def cause(text: str) -> str:
    found = [f["message"] for f in answer(text)["findings"] if f["slug"] == "first-cause"]
    return found[0].split(": ")[1] if found else ""


SURVIVED = [
    "2026-11-21T12:02:00 WARNING failed to upload metrics, will retry: ConnectionResetError\n",
    "INFO epoch 1: caught ValueError: bad sample 5, skipping\n",
    "2026-11-21 12:00:01,000 - ERROR - tracker: requests.exceptions.ConnectionError: Pool(); "
    "retrying in background\n",
    "Retrying download after requests.exceptions.ConnectionError: HTTPSConnectionPool()\n",
    '{"level": "warning", "msg": "push failed: ConnectionError: x"}\n',
    "W1121 12:00:00.1 77 loader.py:9] bad record: KeyError: 'label'\n",
    "2026-11-21 12:00:01 WARNING upload failed: OSError: [Errno 28] No space left on device; "
    "will retry\n",
    "WARNING: ConnectionRefusedError: [Errno 111] Connection refused, retrying (attempt 1/5)\n",
    "2026-11-21 12:00:01 WARNING CUDA out of memory at batch size 64, retrying with 32\n",
    f"Exception ignored in: <function f at 0x7f>\n{TRACE}TypeError: x\n",
    f"ERROR could not push\n{TRACE}TimeoutError: x\nINFO step 20 loss 3\n",
    f"{TRACE}TimeoutError: x\nINFO recovered from the error above, continuing\n",
    f"{TRACE}TimeoutError: x\nstep 20 loss 3\n",
    f"[rank3]: {TRACE}[rank3]: ValueError: x\n[rank3]: step 20 loss 3\n",
]


@pytest.mark.parametrize("text", SURVIVED)
@pytest.mark.parametrize("end", ["", DONE])
def test_what_a_program_survives_is_at_most_a_remark(text: str, end: str) -> None:
    assert {severity for _, severity, _ in told(f"step 10 loss 4\n{text}{end}")} <= {"info"}
    assert cause(f"step 10 loss 4\n{text}{end}") == ""


@pytest.mark.parametrize("text", SURVIVED)
def test_beside_a_stronger_cause_it_is_no_warning(text: str) -> None:
    found = told(text + KERNEL)
    assert [s for s, severity, _ in found if severity != "info"] == ["kernel-oom-kill"]
    assert cause(text + KERNEL) == "OutOfMemory"


@pytest.mark.parametrize(
    "lead",
    [
        "",
        "[rank3]: ",
        "[trainer0]:",
        "2026-11-21T12:00:00.123Z ",
        "2026-11-21T12:00:00.123Z stderr F ",
        "2026-11-21 12:00:02 rank 1: ",
        "trainer-1  | ",
        "(train pid=77, ip=10.0.0.7) ",
        "Nov 21 12:00:00 ip-10-0-0-7 python[123]: ",
        "[INFO] ",
    ],
)
def test_an_uncaught_exception_ends_the_program(lead: str) -> None:
    lines = "".join(lead + line + "\n" for line in f"{TRACE}app.errors.ShapeError: bad".split("\n"))
    assert ("python-exception", "error", 4) in told(lines)
    assert cause(lines).startswith("NonZeroExit")


@pytest.mark.parametrize(
    "after",
    [
        "",
        "INFO saving emergency checkpoint at step 500\n",
        "saved checkpoint at step 500\n",
        "INFO exiting with code 1\n",
        "wandb: step 500\n",
        "rank 1 step 500 failed\n",
        "[rank1]: step 11 loss 3\n",
        f"step 11 loss 3\n{PEER}",
        "step 11 loss 3\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n",
    ],
)
def test_last_acts_and_other_ranks_are_no_going_on(after: str) -> None:
    assert cause(f"step 10 loss 4\n{TRACE}ValueError: x\n{after}").startswith("NonZeroExit")


def test_a_logged_trace_at_the_end_is_still_the_end() -> None:
    text = f"2026-11-21 12:00:00 ERROR training failed\n{TRACE}ValueError: x\n"
    assert cause(f"step 10\n{text}") == "NonZeroExit"


def test_the_exception_after_a_survived_one_is_told_at_its_own_line() -> None:
    text = f"{TRACE}ValueError: x\nstep 1 loss 2\nstep 2 loss 2\n{TRACE}KeyError: 'y'\n"
    assert ("python-exception", "error", 10) in told(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{LEFT}{STORE}done\n",
        f"done\n{LEFT}{STORE}",
        STORE,
        f"{PEER}INFO training finished successfully\n",
    ],
)
def test_noise_of_the_teardown_is_no_cause(text: str) -> None:
    assert {severity for _, severity, _ in told(text)} == {"info"}
    assert cause(text) == ""


def test_noise_of_the_teardown_beside_a_failure() -> None:
    assert cause(f"{STORE}[rank1]: ValueError: x\n") == "NonZeroExit of rank 1"
    assert cause(f"{STORE}{PEER}") == "NetworkFault of rank 0"


@pytest.mark.parametrize(
    "line",
    [
        "[84231.5] NVRM: GPU 0000:10:1c.0: GPU has fallen off the bus.",
        "Unable to determine the device handle for GPU 0000:10:1C.0: GPU is lost.",
    ],
)
def test_a_gpu_off_the_bus_is_xid_79(line: str) -> None:
    xid = "NVRM: Xid (PCI:0000:10:1c): 79, pid=1, GPU has fallen off the bus."
    assert told(line)[0] == ("gpu-xid-hardware", "error", 1)
    assert "Xid 79" in answer(line)["findings"][0]["message"]
    assert told(f"{xid}\n{line}") == [
        ("gpu-xid-hardware", "error", 1),
        ("first-cause", "info", 1),
    ]


@pytest.mark.parametrize(
    ("number", "right"),
    [(13, "NonZeroExit"), (31, "NonZeroExit"), (43, "NonZeroExit"), (48, "GpuFault"), (63, "")],
)
def test_the_class_of_an_xid_is_its_first_suspect(number: int, right: str) -> None:
    line = f"NVRM: Xid (PCI:0000:53:00): {number}, pid=991, name=python"
    assert cause(line) == right
    if right:
        assert cause(f"RuntimeError: CUDA error: an illegal memory access\n{line}") == right


SUMMARY = """\
ValueError: x
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
train.py FAILED
Failures:
[1]:
  rank      : 2 (local_rank: 2)
  exitcode  : -15 (pid: 440)
  traceback : Signal 15 (SIGTERM) received by PID 440
Root Cause (first observed failure):
[0]:
  rank      : 3 (local_rank: 3)
  exitcode  : {code} (pid: 441)
  traceback : {trace}
"""


def test_the_root_cause_of_torchrun_names_the_rank() -> None:
    killed = SUMMARY.format(code=-9, trace="Signal 9 (SIGKILL) received by PID 441")
    assert ("killed-by-signal", "error", 12) in told(killed)
    assert cause(killed.partition("\n")[2]) == "Killed of rank 3"
    raised = SUMMARY.format(code=1, trace="To enable traceback see: x")
    assert cause(raised) == "NonZeroExit of rank 3"


def test_exec_format_error_is_the_architecture() -> None:
    found = told("exec /usr/bin/python: exec format error\n")
    assert found[0] == ("image-wrong-architecture", "error", 1)
