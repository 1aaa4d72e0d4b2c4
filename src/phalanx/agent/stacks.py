"""What a rank that stands still is doing: its threads' stacks, and in one word where."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time

from phalanx.agent import processes

WAIT_S = 1.0
_IN_COLLECTIVE = re.compile(r'torch/distributed/|"[^"]*c10d[^"]*"|torch/autograd/graph\.py')
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<name>\S+)')
_LIBRARY = re.compile(r"/(site-packages|lib/python3[^/]*)/|phalanx/(agent|backends)/|<frozen")


def ask(pid: int) -> None:
    """Ask a rank to write its stacks into its folder (see `rank_main`).

    A process that does not listen, a launcher say, would be ended by the signal: it is not asked.
    """
    if not is_stopped(pid) and _catches(pid, signal.SIGUSR2):
        processes.signal_process(pid, signal.SIGUSR2)


def _catches(pid: int, signum: int) -> bool:
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (signum - 1) & 1)
    return False


def is_stopped(pid: int) -> bool:
    """Whether the process is held by SIGSTOP or a debugger."""
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] in "Tt"
    return False


def read_stacks(folder: str, wait_s: float) -> str:
    """The stacks once they are written; what there is of them, or '', when time is up."""
    deadline, text = time.monotonic() + wait_s, ""
    while True:
        with contextlib.suppress(OSError), open(f"{folder}/stacks", errors="replace") as file:
            text = file.read()
            if "rank_main.py" in text:  # the outermost frame: the dump is whole
                return text
        if time.monotonic() >= deadline:
            return text
        time.sleep(0.02)


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
