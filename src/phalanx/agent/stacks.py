"""What a rank that stands still is doing: its threads' stacks, and in one word where."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time

from phalanx.agent import processes

WAIT_S = 1.0
SIGNAL = signal.SIGRTMIN + 9
"""Asks for stacks. None of the usual ones: scripts have uses of their own for SIGUSR1 and 2."""
_IN_COLLECTIVE = re.compile(r'torch/distributed/|"[^"]*c10d[^"]*"|torch/autograd/graph\.py')
_THREAD = re.compile(r"^(?:Current thread|Thread) 0x", re.MULTILINE)
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<name>\S+)')
_LIBRARY = re.compile(r"/(site-packages|lib/python3[^/]*)/|phalanx/(agent|backends)/|<frozen")


def ask(pid: int) -> None:
    """Ask a rank to write its stacks into its folder (see `rank_main`).

    A process that does not listen, a launcher say, would be ended by the signal: it is not asked.
    """
    if not is_stopped(pid) and listens(pid):
        processes.signal_process(pid, SIGNAL)


def listens(pid: int) -> bool:
    """Whether the process answers when it is asked."""
    return _catches(pid, SIGNAL)


def _catches(pid: int, signum: int) -> bool:
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (signum - 1) & 1)
    return False


def is_stopped(pid: int) -> bool:
    """Whether the process is held by SIGSTOP or a debugger."""
    return _letter(pid) in ("T", "t")


def has_ended(pid: int) -> bool:
    """Whether there is no such process any more, or only its exit status."""
    return _letter(pid) in ("", "Z", "X")


def _letter(pid: int) -> str:
    """The kernel's letter for what a process does; '' when there is none."""
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]
    return ""


def size(folder: str) -> int:
    """Bytes of stacks written so far."""
    with contextlib.suppress(OSError):
        return os.stat(f"{folder}/stacks").st_size
    return 0


def read_stacks(folder: str, wait_s: float, since: int = 0) -> str:
    """The stacks once they are written; what there is of them, or '', when time is up.

    What stands before byte `since` is older and left out, unless the file was emptied meanwhile.
    """
    deadline, text = time.monotonic() + wait_s, ""
    while True:
        with contextlib.suppress(OSError), open(f"{folder}/stacks", errors="replace") as file:
            file.seek(since if size(folder) >= since else 0)
            text = file.read()
            if is_whole(text):
                return text
        if time.monotonic() >= deadline:
            return text
        time.sleep(0.02)


def is_whole(text: str) -> bool:
    """Whether a dump has come to the outermost frame of the main thread, which is told last.

    What stands before the first thread is the rest of an older dump.
    """
    first = _THREAD.search(text)
    return first is not None and "rank_main.py" in text[first.start() :]


def forget(folder: str) -> None:
    """Empty the stacks, so that the next ones are not taken for older ones."""
    with contextlib.suppress(OSError):
        os.truncate(f"{folder}/stacks", 0)


def stuck_in(pid: int, stacks: str) -> str:
    """`stopped`, `collective`, `code`, or '' when nothing tells."""
    if is_stopped(pid):
        return "stopped"
    if not stacks:
        return ""
    return "collective" if _IN_COLLECTIVE.search(main_thread(stacks)) else "code"


def main_thread(stacks: str) -> str:
    """The part of the dump that shows the thread which runs the script: the last one."""
    parts = re.split(r"\n(?=(?:Current thread|Thread) 0x)", stacks)
    script = [part for part in parts if "rank_main.py" in part]
    return script[-1] if script else parts[-1]


def where(stacks: str) -> str:
    """The innermost line of the user's own code, `train.py:41 in <module>`; '' when none."""
    for match in _FRAME.finditer(main_thread(stacks)):
        if not _LIBRARY.search(match["file"]):
            return f"{os.path.basename(match['file'])}:{match['line']} in {match['name']}"
    return ""
