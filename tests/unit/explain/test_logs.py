"""Plain logs, and files that are for somebody else."""

from __future__ import annotations

from typing import Any

import pytest

from phalanx.errors import InputError
from phalanx.explain.explain import explain
from phalanx.explain.reading import Input


def answer(*texts: str, name: str = "{}.log") -> dict[str, Any]:
    files = [Input(name.format(n), text.encode()) for n, text in enumerate(texts)]
    return explain(files).plain()


def cause(given: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(f for f in given["findings"] if f["slug"] == "first-cause")
    return found


GLOO = "[rank0]: RuntimeError: [pair.cc:534] Connection closed by peer [10.0.0.7]:4321"


@pytest.mark.parametrize(
    ("line", "slug", "severity"),
    [
        ("NVRM: Xid (PCI:0000:53:00): 79, pid=1, GPU has fallen off", "gpu-xid-hardware", "error"),
        ("[ 1.2] NVRM: Xid (PCI:0000:53:00): 31, pid=7", "gpu-xid-program", "error"),
        ("NVRM: Xid (PCI:0000:53:00): 999, x", "gpu-xid", "warning"),
        ("NVRM: Xid (PCI:0000:53:00): 63, pid=7", "gpu-xid-notice", "warning"),
        ("NVRM: Xid (PCI:0000:53:00): 154, GPU recovery action", "gpu-xid-notice", "warning"),
        ("NVRM: Xid (PCI:0000:53:00): 45, pid=7", "gpu-xid-consequence", "info"),
        ("Out of memory: Killed process 4242 (python) total-vm:1kB", "kernel-oom-kill", "error"),
        ("Memory cgroup out of memory: Killed process 7", "kernel-oom-kill", "error"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried", "cuda-out-of-memory", "error"),
        (
            "RuntimeError: DataLoader worker (pid 9) is killed by signal: Bus error. It is possible"
            " that dataloader's workers are out of shared memory.",
            "shared-memory-too-small",
            "error",
        ),
        ("OSError: [Errno 28] No space left on device", "diagnose-disk-full", "error"),
        ("CUDA error: system not yet initialized", "fabric-manager-not-ready", "error"),
        ("ip-10-0:7 NET/OFI No eligible providers were found", "nccl-not-using-efa", "warning"),
        (
            "Watchdog caught collective operation timeout: SeqNum=7",
            "nccl-watchdog-timeout",
            "warning",
        ),
        ("OSError: [Errno 98] Address already in use", "port-in-use", "error"),
        ("ValueError: shapes do not match", "python-exception", "error"),
        ("Signal 9 (SIGKILL) received by PID 7", "killed-by-signal", "error"),
    ],
)
def test_lines(line: str, slug: str, severity: str) -> None:
    given = answer(f"INFO step 3\n{line}\n")
    found = {f["slug"]: (f["severity"], f["where"]) for f in given["findings"]}
    assert found[slug] == (severity, "line 2")


def test_a_connection_error_is_a_consequence_of_a_kill_in_another_log() -> None:
    given = answer(f"12:00:01 {GLOO}", "12:00:02 kernel: Out of memory: Killed process 9 (python)")
    assert cause(given)["file"] == "1.log"
    severities = {f["slug"]: f["severity"] for f in given["findings"]}
    assert severities["peer-connection-lost"] == "info"


def test_a_connection_error_alone_is_the_first_that_is_known() -> None:
    given = answer(GLOO)
    assert "NetworkFault of rank 0" in cause(given)["message"]


def test_every_xid_number_is_told_and_a_notice_is_no_cause() -> None:
    lines = [f"NVRM: Xid (PCI:0000:3b:00): {n}, pid=1" for n in (63, 94, 79, 94)]
    given = answer("\n".join(lines))
    told = [(f["slug"], f["line"]) for f in given["findings"] if f["slug"] != "first-cause"]
    assert sorted(told) == [("gpu-xid-hardware", 2), ("gpu-xid-hardware", 3), ("gpu-xid-notice", 1)]
    assert cause(given)["line"] == 2


SOCKET = "ip-10-0-0-1:1:1 [0] NCCL INFO Using network Socket\n"


@pytest.mark.parametrize(
    ("before", "severities"),
    [
        ("ip-10-0-0-1:1:1 [0] NCCL INFO NET/OFI Using transport protocol RDMA\n", ["warning"]),
        ("export FI_PROVIDER=efa\n", ["warning"]),
        ("h:1 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so.\n", ["info"]),
        ("h:1 [0] NCCL INFO Bootstrap : Using eth0\n", []),
    ],
)
def test_nccl_over_sockets(before: str, severities: list[str]) -> None:
    findings = answer(before + SOCKET)["findings"]
    assert [f["severity"] for f in findings] == severities
    assert {(f["slug"], f["line"]) for f in findings} <= {("nccl-not-using-efa", 2)}


def test_nccl_over_sockets_is_told_once_where_the_reason_is_known() -> None:
    given = answer(f"h:1 NCCL WARN NET/OFI No eligible providers were found\n{SOCKET}")
    assert [(f["slug"], f["line"]) for f in given["findings"]] == [("nccl-not-using-efa", 1)]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("INFO: fallback when CUDA out of memory is disabled", False),
        ("2026-11-22T10:00:00Z INFO what to do when CUDA out of memory comes", False),
        ("2026-11-22 10:00:00,123 - train - DEBUG - No space left on device: handled", False),
        ("[INFO] torch.OutOfMemoryError: CUDA out of memory. Tried", True),
        ("INFO kernel: Out of memory: Killed process 9 (python)", True),
        ("CUDA out of memory while in INFO mode", True),
    ],
)
def test_a_line_that_calls_itself_information(line: str, told: bool) -> None:
    assert bool(answer(line)["findings"]) is told


@pytest.mark.parametrize("data", [b"", b" \n\n", b"\xef\xbb\xbf"])
def test_an_empty_json_file_is_said(data: bytes) -> None:
    with pytest.raises(InputError, match=r"x\.events\.json: is empty") as caught:
        explain([Input("x.events.json", data)])
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("data", [b"5", b'"text"', b"null", b"true\n"])
def test_a_json_file_with_one_scalar_is_no_evidence(data: bytes) -> None:
    with pytest.raises(InputError, match="none of the kinds") as caught:
        explain([Input("x.json", data)])
    assert "checkpoint listings" in caught.value.line()


def test_a_log_that_tells_nothing() -> None:
    assert answer("INFO all is well\n")["findings"] == []


def test_a_log_line_in_brackets_is_no_json() -> None:
    assert answer("[1] first\n[2] OSError: [Errno 28] No space left on device")["findings"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("main.tf", 'resource "aws_ecs_cluster" "x" {\n}\n'),
        ("t.json", '{"family": "a", "containerDefinitions": []}'),
        ("s.yaml", "Resources:\n  A:\n    Type: AWS::ECS::Cluster\n"),
        ("compose.yml", "services:\n  a:\n    image: b\n"),
        ("job.yaml", "name: a\nrun: python train.py\nnodes: 2\n"),
    ],
)
def test_files_for_lint_are_sent_there(name: str, text: str) -> None:
    with pytest.raises(InputError, match="what should run") as caught:
        explain([Input(name, text.encode())])
    assert caught.value.exit_code == 2
    assert "lint" in caught.value.line()


def test_an_unknown_json_says_what_is_read() -> None:
    with pytest.raises(InputError) as caught:
        explain([Input("x.json", b'{"hello": 1}')])
    assert "checkpoint listings" in caught.value.line()


def test_intents_beside_evidence_are_left_aside() -> None:
    given = explain([Input("main.tf", b'resource "a" "b" {\n}\n'), Input("x.log", GLOO.encode())])
    assert any("lint" in note for note in given.notes)
    assert given.findings
