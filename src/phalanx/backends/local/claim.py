"""The first code of a task: own it by create-once, or exit before anything else happens.

Run as `python -m phalanx.backends.local.claim -m <module> ...` (same process) or
`... -- <command> ...` (exec, same pid) with the environment of `render`. Two of these with one
token make one task: the loser exits. It reads the record right before it claims, so that a
launch which was delayed for hours starts nothing.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from phalanx.backends.local import marks, processes
from phalanx.backends.local.tasks import Claim, TaskFiles

_PR_SET_CHILD_SUBREAPER = 36


def is_wanted(root: str, job: str, seat: tuple[int, int, int]) -> bool:
    """Whether the record still seats this (slot, incarnation, tries) and the job is not ending.

    Raises `StoreError` when the root cannot be read.
    """
    from phalanx.names import Keys
    from phalanx.state.read import read_record
    from phalanx.store.files import FilesObjects
    from phalanx.store.store import Store
    from phalanx.store.writer import writer_id

    found = read_record(Store(FilesObjects(root), writer_id()), Keys(job))
    if found is None or found.record.phase.is_terminal or found.record.ending is not None:
        return False
    slot, incarnation, tries = seat
    if slot >= len(found.record.seats):
        return False
    seated = found.record.seat(slot)
    return (seated.incarnation, seated.tries) == (incarnation, tries)


def main(argv: Sequence[str]) -> int:
    """Claim the task, then become what it runs. Returns the exit code."""
    env = os.environ
    root, job = env[marks.ROOT], env[marks.JOB]
    seat = (int(env[marks.SLOT]), int(env[marks.INCARNATION]), int(env[marks.TRIES]))
    files = TaskFiles(root, job, env[marks.TASK])
    _settle()
    pid, start = os.getpid(), processes.start_of(os.getpid())
    if start is None:
        raise SystemExit("this process is not to be seen in /proc")
    if files.claim() is not None or not is_wanted(root, job, seat):
        return 0
    if not files.put_claim(Claim(pid, start, processes.boot(), *seat)):
        return 0
    if argv[0] == "--":
        os.execvp(argv[1], list(argv[1:]))
    return _run_module(files, argv[1:])


def _settle() -> None:
    """A session of its own, default signals, and every orphan below stays below."""
    if os.getsid(0) != os.getpid():
        os.setsid()
    # A shell that starts something in the background has it ignore SIGINT and SIGQUIT.
    for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _adopt_orphans()
    if sys.path and sys.path[0] == os.getcwd():
        del sys.path[0]


def _adopt_orphans() -> None:
    """Processes that lose their parent become ours, not init's, so that they are found."""
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _run_module(files: TaskFiles, argv: Sequence[str]) -> int:
    import runpy

    owner = os.getpid()
    code = 1
    sys.argv = list(argv)
    try:
        runpy.run_module(argv[0], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as error:
        code = _exit_code(error)
    finally:
        # A rank forked by the agent may come through here as well: only the owner speaks.
        if os.getpid() == owner:
            _leave_exit(files, code)
    return code


def _leave_exit(files: TaskFiles, code: int) -> None:
    """A root that was deleted meanwhile takes no exit code; nobody is left to read one."""
    try:
        files.put_exit(code)
    except OSError as error:
        print(f"no exit code is left: {files.folder}: {error.strerror}", file=sys.stderr)


def _exit_code(error: SystemExit) -> int:
    if error.code is None or isinstance(error.code, int):
        return (error.code or 0) & 0xFF
    print(error.code, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
