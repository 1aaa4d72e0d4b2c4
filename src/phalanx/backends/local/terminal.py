"""A terminal of its own for a command, shown in ours: keys go in, output comes out.

The command leads a session of its own. Whatever it does to its terminal, ours is as before when
this returns, and what it leaves behind gets a hang-up.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType

from phalanx.backends.local.processes import open_process, start_of

_CHUNK = 1 << 16
_ENDING = (signal.SIGTERM, signal.SIGHUP)


def attached(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run a command in a pseudo-terminal joined to our own; its wait status."""
    pid, master = pty.fork()
    if pid == 0:
        with contextlib.suppress(OSError):
            os.chdir("/")
            os.execve(argv[0], list(argv), dict(env))
        os._exit(127)
    ended = _end_of(pid)
    try:
        with _ours(master):
            _copy(master, ended)
    finally:
        os.close(master)
        if ended is not None:
            os.close(ended)
    return os.waitpid(pid, 0)[1]


def _end_of(pid: int) -> int | None:
    """A descriptor that turns readable when our child ends; None when it has."""
    start = start_of(pid)
    return open_process(pid, start) if start is not None else None


@contextlib.contextmanager
def _ours(master: int) -> Iterator[None]:
    """Our terminal passes every key on unread, and its size follows; restored at the end."""
    before = termios.tcgetattr(0)
    actions = {number: signal.getsignal(number) for number in (signal.SIGWINCH, *_ENDING)}
    signal.signal(signal.SIGWINCH, lambda *_: _same_size(master))
    for number in _ENDING:
        signal.signal(number, _leave)
    _same_size(master)
    try:
        tty.setraw(0, termios.TCSADRAIN)  # what was typed meanwhile is kept
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        for number, action in actions.items():
            signal.signal(number, action)


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _same_size(master: int) -> None:
    with contextlib.suppress(OSError):
        fcntl.ioctl(master, termios.TIOCSWINSZ, fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8))


def _copy(master: int, ended: int | None) -> None:
    """Until the command has ended and what it wrote is shown.

    A process that it leaves in the background may hold the terminal open: not waited for.
    """
    poll = select.poll()
    for fd in (0, master, *(() if ended is None else (ended,))):
        poll.register(fd, select.POLLIN)
    while True:
        ready = {fd for fd, _ in poll.poll(None if ended is not None else 0)}
        if master in ready and not _pass(master, 1):
            return
        if master not in ready and (ended is None or ended in ready):
            return
        if 0 in ready and not _pass(0, master):
            poll.unregister(0)


def _pass(source: int, goal: int) -> bool:
    """Move what is there; False when there will be no more."""
    try:
        data = os.read(source, _CHUNK)
        view = memoryview(data)
        while view.nbytes:
            view = view[os.write(goal, view) :]
    except OSError:
        return False
    return bool(data)
