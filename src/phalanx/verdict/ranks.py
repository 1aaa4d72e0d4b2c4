"""What kind of ending one rank had, from its exit code, signal and last words.

The text decides only where it names the thing: a word in an old warning must not hide the
exception that ended the rank, so the last exception and what follows it are read first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from signal import Signals

from phalanx.state.gang import RankEnd
from phalanx.verdict.xid import CONSEQUENCE, NOTICE, PROGRAM
from phalanx.words import FailureClass

Pattern = re.Pattern[str]

_EXCEPTION = re.compile(
    r"^(?:\[rank\d+\]:\s*)?(?:[A-Za-z_]\w*\.)*[A-Z]\w*"
    r"(?:Error|Exception|Interrupt|Exit|Warning|Unreadable)(?::|$)|^terminate called",
    re.MULTILINE,
)
_CHAINED = re.compile(
    r"During handling of the above exception|The above exception was the direct cause"
)

_TEXTS: tuple[tuple[FailureClass, Pattern], ...] = (
    (
        FailureClass.OUT_OF_MEMORY,
        re.compile(
            r"OutOfMemoryError|[Cc]uda failure.{0,12}out of memory"
            r"|(?:CUDA|HIP|MPS|XPU|NPU)(?: error:)? (?:backend )?out of memory"
            r"|CUDA_ERROR_OUT_OF_MEMORY|\bMemoryError\b|std::bad_alloc|Cannot allocate memory"
            r"|DefaultCPUAllocator: (?:can't|not enough) |NRT_RESOURCE\b.*memory"
        ),
    ),
    (
        FailureClass.DISK_FULL,
        re.compile(r"No space left on device|\bENOSPC\b|\[Errno 28\]|Disk quota exceeded", re.I),
    ),
    (FailureClass.CHECKPOINT_UNREADABLE, re.compile(r"\bCheckpointUnreadable\b")),
    (FailureClass.KILLED, re.compile(r"Signal \d+ \(SIG[A-Z]+\) received by PID")),
    (
        FailureClass.DRIVER_MISMATCH,
        re.compile(
            r"CUDA driver version is insufficient|driver on your system is too old"
            r"|forward compatibility was attempted on non supported|system not yet initialized"
            r"|unsatisfied condition: (?:cuda|driver)|driver/library version mismatch",
            re.I,
        ),
    ),
    (
        FailureClass.GPU_FAULT,
        re.compile(
            r"NVRM: Xid|\bXid\b.{0,40}\b\d{1,3}\b|CUDA_ERROR_ECC|uncorrectable (?:NVLink|ECC)"
            r"|fallen off the bus|device-side assert|CUDA error: (?:an )?illegal"
            r"|CUDA error: (?:unspecified launch failure|misaligned address|hardware stack error"
            r"|(?:an )?uncorrectable|unknown error|the launch timed out)"
            r"|CUDA_ERROR_(?:ILLEGAL_ADDRESS|LAUNCH_FAILED|HARDWARE_STACK_ERROR|ASSERT)"
            r"|NRT_(?:EXEC_HW_ERR|UNCORRECTABLE)|HBM (?:UE|uncorrectable)",
            re.I,
        ),
    ),
    (
        FailureClass.RENDEZVOUS_TIMEOUT,
        re.compile(
            r"RendezvousTimeoutError|DistStoreError.*(?:[Tt]imed out|wait timeout)"
            r"|client socket has timed out|Timed out after \d+ seconds waiting for clients"
            r"|RendezvousConnectionError"
        ),
    ),
    (
        FailureClass.NETWORK_FAULT,
        re.compile(
            r"Connection (?:closed by (?:remote )?peer|reset|refused|aborted|timed out)|Broken pipe"
            r"|[Ww]atchdog caught collective operation timeout|Watchdog.*(?:timed out|timeout)"
            r"|NCCL (?:communicator was aborted|WARN NET)|ncclRemoteError|ncclSystemError"
            r"|ncclInternalError|remote process exited or (?:there was a )?network error"
            r"|DistNetworkError|ConnectionResetError|BrokenPipeError"
            r"|ConnectionRefusedError|[Cc]ollective operation timeout|\bgloo\b.*(?:[Tt]imed out)"
            r"|failed to recv|recvValue failed|sendBytes failed|[Nn]o route to host"
            r"|Some NCCL operations have failed or timed out|Timed out waiting \d+ms for"
        ),
    ),
)

_MILD_XID = re.compile(
    r"(?:NVRM: )?\bXid\s{0,4}(?:\([^)\n]{0,40}\))?:?\s{0,4}(?:"
    + "|".join(str(number) for number in sorted({*PROGRAM, *CONSEQUENCE, *NOTICE}))
    + r")\b"
)
"""Xids that blame the program, follow from something else, or end nothing: no fault of a GPU."""

_OOM_MARK = re.compile(
    r"\boom[-_ ]?kill(?:ed|er)?\b|OOMKilled|Out of memory: Kill|Memory cgroup out of memory"
    r"|OutOfMemoryError|killed due to memory usage",
    re.I,
)

SECONDARY = frozenset({FailureClass.NETWORK_FAULT, FailureClass.RENDEZVOUS_TIMEOUT})
"""Kinds that mostly tell of somebody else's end: they never beat a primary kind."""

KILLED_WITH_CODE = 128
"""A shell or a container runtime reports death by signal n as exit code 128 + n."""


CANNOT_RUN = frozenset({126, 127})
"""A shell's exit codes for a command that cannot be executed, or is not to be found."""


def classify_rank(end: RankEnd) -> FailureClass | None:
    """The class of one rank's ending; None when it exited 0.

    A class that the agent set itself is believed. Without exit code, signal or telling text the
    answer is `Unknown`.
    """
    if end.failure is not None:
        return end.failure
    signal = signal_of(end.exit_code, end.signal)
    if signal is not None:
        return _killed(signal, end.error)
    if end.exit_code == 0:
        return None
    told = classify_text(end.error)
    if told is not None:
        return told
    if end.exit_code is None:
        return FailureClass.UNKNOWN
    is_bad = end.exit_code in CANNOT_RUN and end.step == 0
    return FailureClass.BAD_COMMAND if is_bad else FailureClass.NON_ZERO_EXIT


def classify_text(text: str) -> FailureClass | None:
    """The class that a framework's or a kernel's words name, or None when they name none."""
    for part in _telling_parts(_MILD_XID.sub("", text)):
        found = _match(part, _TEXTS)
        if found is not None:
            return found
    return None


def signal_of(exit_code: int | None, signal: int | None) -> int | None:
    """The signal that ended a process, also where it is told as exit code 128 + n or -n."""
    if signal:
        return signal
    if exit_code is None:
        return None
    number = -exit_code if exit_code < 0 else exit_code - KILLED_WITH_CODE
    return number if number in _SIGNALS else None


def signal_name(number: int) -> str:
    """`SIGKILL` for 9; `signal 77` for a number without a name."""
    return _SIGNALS.get(number, f"signal {number}")


_SIGNALS = {int(item): item.name for item in Signals}


_WORD = re.compile(r"\w")


def last_words(text: str, limit: int = 240) -> str:
    """The line that says most: the last exception's, else the last line; at most `limit` long."""
    lines = [line.strip() for line in text.splitlines() if _WORD.search(line)]
    if not lines:
        return ""
    named = [line for line in lines if _EXCEPTION.match(line)]
    line = named[-1] if named else lines[-1]
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _killed(signal: int, text: str) -> FailureClass:
    """Death by signal: memory only with a mark of it, a collective's abort only with its text."""
    if _OOM_MARK.search(text) and signal in (Signals.SIGKILL, Signals.SIGTERM):
        return FailureClass.OUT_OF_MEMORY
    if signal in (Signals.SIGKILL, Signals.SIGTERM, Signals.SIGINT, Signals.SIGHUP):
        return FailureClass.KILLED
    told = classify_text(text)
    return FailureClass.KILLED if told is None else told


def _telling_parts(text: str) -> Iterable[str]:
    """The texts to read, most telling first."""
    starts = [match.start() for match in _EXCEPTION.finditer(text)]
    if not starts:
        return (text,)
    if _CHAINED.search(text):
        # The first exception of a chain is what happened; the later ones are what it led to.
        ends = [*starts[1:], len(text)]
        pieces = [text[a:b] for a, b in zip(starts, ends, strict=True)]
        return sorted(pieces, key=lambda piece: _match(piece, _TEXTS) in SECONDARY)
    return (text[starts[-1] :],)


def _match(text: str, table: tuple[tuple[FailureClass, Pattern], ...]) -> FailureClass | None:
    return next((kind for kind, pattern in table if pattern.search(text)), None)
