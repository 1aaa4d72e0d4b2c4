"""The agent's side of the warm parent: start it, ask it for forks and stores, hear its news."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

from phalanx.agent.logs import PassedOn
from phalanx.agent.processes import open_pidfd
from phalanx.agent.warm import MESSAGE_MAX
from phalanx.redaction.redactor import Redactor

_LOG = 2
"""Standard error of the agent is its log."""
_FROM_NULL = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]


STUCK_AFTER_S = 10.0
"""A warm parent answers in milliseconds; on a crowded machine in a second or two."""


class News:
    """What the warm parent has said since the last question."""

    def __init__(self) -> None:
        self.exits: list[tuple[int, int]] = []
        """(pid, wait status)."""


class WarmLink:
    """One warm parent, alive or not. All methods are safe after its death."""

    def __init__(
        self,
        python: str,
        env: Mapping[str, str],
        warm: Sequence[str],
        path: Sequence[str],
        redactor: Redactor | None = None,
    ) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        config = {"parent": os.getpid(), "warm": list(warm), "path": list(path)}
        argv = [python, "-m", "phalanx.agent.warm", str(theirs.fileno()), json.dumps(config)]
        theirs.set_inheritable(True)
        heard, said = os.pipe()
        actions = [*_FROM_NULL, (os.POSIX_SPAWN_DUP2, said, 1), (os.POSIX_SPAWN_DUP2, said, 2)]
        self.pid = os.posix_spawn(python, argv, dict(env), file_actions=actions)
        theirs.close()
        os.close(said)
        self._said = PassedOn(heard, _LOG, redactor or Redactor())
        self.socket = ours
        self.pidfd = open_pidfd(self.pid)
        self.is_ready = False
        self.is_dead = self.pidfd is None
        self.forked: dict[int, int] = {}
        self.store: tuple[int, int] | None = None
        """(pid, port) of the spare collective store."""
        self._store_asked: float | None = None
        self._kept = News()

    def fork(
        self, key: int, argv: Sequence[str], env: Mapping[str, str], cwd: str, fds: Sequence[int]
    ) -> bool:
        """Ask for one rank; its pid arrives as `forked[key]`. False when the parent is dead."""
        words = {"op": "fork", "key": key, "argv": list(argv), "env": dict(env), "cwd": cwd}
        try:
            socket.send_fds(self.socket, [json.dumps(words).encode()], list(fds))
        except OSError:
            self.is_dead = True
            return False
        return True

    def ask_store(self, address: str) -> None:
        """Ask for a spare collective store unless there is one or one is on its way."""
        if (
            self.store is not None
            or self._store_asked is not None
            or self.is_dead
            or not self.is_ready
        ):
            return
        words = {"op": "store", "address": address}
        try:
            self.socket.send(json.dumps(words).encode())
            self._store_asked = time.monotonic()
        except OSError:
            self.is_dead = True

    def fds(self) -> list[int]:
        """Descriptors that bring news of it."""
        return [self.socket.fileno(), *([self._said.fd] if self._said.fd >= 0 else [])]

    @property
    def is_stuck(self) -> bool:
        """Whether a request has gone unanswered for so long that it must be frozen."""
        asked = self._store_asked
        return asked is not None and time.monotonic() - asked > STUCK_AFTER_S

    def take_store(self) -> tuple[int, int] | None:
        """The spare store, which then belongs to the caller."""
        taken, self.store = self.store, None
        return taken

    def wait(self, seconds: float) -> None:
        """Block until the parent says something; what it says is kept for `hear`."""
        select.select([self.socket], [], [], seconds)
        self._kept = self.hear()

    def hear(self) -> News:
        """Take in all messages that have arrived; what was printed goes on to the agent's log."""
        self._said.pump()
        news, self._kept = self._kept, News()
        while not self.is_dead:
            try:
                data = self.socket.recv(MESSAGE_MAX, socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                self.is_dead = True
                break
            self._take(json.loads(data), news)
        return news

    def _take(self, words: dict[str, Any], news: News) -> None:
        if words["op"] == "ready":
            self.is_ready = True
        elif words["op"] == "forked":
            self.forked[words["key"]] = words["pid"]
        elif words["op"] == "store":
            self.store = (words["pid"], words["port"])
            self._store_asked = None
        elif words["op"] == "exit":
            news.exits.append((words["pid"], words["status"]))
            if self.store is not None and self.store[0] == words["pid"]:
                self.store = None

    def close(self) -> None:
        """Kill it, and with it whatever it has forked."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        self.socket.close()
        self._said.close()
        if self.pidfd is not None:
            os.close(self.pidfd)
            self.pidfd = None
        self.is_dead = True
