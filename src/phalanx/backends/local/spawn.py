"""Start a process that is nobody's child: it outlives the terminal and leaves no zombie."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Mapping, Sequence

from phalanx.errors import BackendError, LaunchRefused, NoCapacity, Throttled
from phalanx.owned import append_to

_DETACH = ("/bin/sh", "-c", '"$@" &', "sh")
"""The shell forks and exits at once, which orphans the process without forking this one."""


def spawn_detached(argv: Sequence[str], env: Mapping[str, str], log: str, cwd: str = "/") -> None:
    """Start `argv` detached, with no input and its output appended to the file `log`.

    Raises `LaunchRefused`, `NoCapacity`, `Throttled` or `BackendError`.
    """
    if not os.access(argv[0], os.X_OK):
        raise LaunchRefused(f"{argv[0]} cannot be executed")
    try:
        fd = append_to(log)
        try:
            subprocess.run(
                [*_DETACH, *argv],
                stdin=subprocess.DEVNULL,
                stdout=fd,
                stderr=fd,
                env=dict(env),
                cwd=cwd,
                start_new_session=True,
                check=True,
            )
        finally:
            os.close(fd)
    except OSError as error:
        raise refusal(error, "start a task") from error
    except subprocess.CalledProcessError as error:
        raise Throttled(f"the shell that starts tasks ended with {error.returncode}") from error


def refusal(error: OSError, doing: str) -> BackendError:
    """The error of our tree for an answer of the system."""
    said = f"cannot {doing}: {error.strerror or error}"
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return NoCapacity(said + where, hint="free some space on that disk")
    if error.errno in (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE):
        return Throttled(said + where)
    if error.errno == errno.E2BIG:
        return LaunchRefused(said, hint="the environment is too large")
    return BackendError(said + where)
