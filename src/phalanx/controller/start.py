"""Start a controller for a job unless one is at work. Anybody who notices may do it."""

from __future__ import annotations

import os
import sys

from phalanx.backends.local.marks import outside_environment
from phalanx.controller.beat import read_beat
from phalanx.errors import StoreUnavailable
from phalanx.names import Keys
from phalanx.owned import append_to
from phalanx.store.store import Store


def ensure(store: Store, root: str | os.PathLike[str], job: str) -> bool:
    """Start a controller unless a fresh beat shows one. Returns whether one was started."""
    beat = read_beat(store, Keys(job))
    if beat is not None and beat.is_fresh:
        return False
    spawn(root, job)
    return True


def spawn(root: str | os.PathLike[str], job: str) -> None:
    """Start `python -m phalanx.controller` detached: no child of ours, no terminal.

    It outlives the caller, the caller's terminal and its process group.
    """
    argv = [sys.executable, "-m", "phalanx.controller", "--root", str(root), "--job", job]
    folder = os.path.join(root, Keys(job).base)
    try:
        path = os.path.join(folder, "controller.log")
        log = append_to(path)
    except OSError as error:
        raise StoreUnavailable(
            f"cannot start a controller: {folder}: {error.strerror}", hint="is the root writable?"
        ) from error
    try:
        _double_fork(argv, log)
    finally:
        os.close(log)


def _double_fork(argv: list[str], log: int) -> None:
    """The middle process ends at once, so that the controller belongs to init."""
    null = os.open(os.devnull, os.O_RDONLY)
    actions = [
        (os.POSIX_SPAWN_DUP2, null, 0),
        (os.POSIX_SPAWN_DUP2, log, 1),
        (os.POSIX_SPAWN_DUP2, log, 2),
    ]
    code = (
        "import os,sys\n"
        "if os.fork(): os._exit(0)\n"
        "os.chdir('/')\n"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    middle = [sys.executable, "-S", "-E", "-c", code, *argv]
    pid = os.posix_spawn(
        sys.executable,
        middle,
        outside_environment(os.environ),
        file_actions=actions,
        setsid=True,  # at once: Ctrl-C goes to everything in the caller's process group
    )
    os.close(null)
    os.waitpid(pid, 0)
