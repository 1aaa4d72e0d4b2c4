"""End every process of some tasks: freeze, kill, look again, until two looks are empty."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection

from phalanx.backends.local import members, processes
from phalanx.backends.local.members import Family, Identity
from phalanx.backends.local.processes import Process

PATIENCE_S = 2.0
"""A sweep gives up after that long: what sleeps in the kernel dies later, the next call looks."""
_KILL_WAIT_MS = 100


class Sweeper:
    """Finds and ends processes of one root; remembers whom it has seen belong."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._known: dict[Identity, str] = {}

    def find(self, families: Collection[Family]) -> dict[Process, str]:
        """Living processes of these tasks with their tokens, agents included."""
        table = processes.scan()
        found = members.belonging(self._root, families, table, self._known, (os.getpid(),))
        living = {process.identity for process in table}
        kept = {identity: token for identity, token in self._known.items() if identity in living}
        self._known = {**kept, **{process.identity: token for process, token in found.items()}}
        return found

    def tokens_seen(self, job: str) -> set[str]:
        """Tokens that living processes of the job carry."""
        mine = (p for p in processes.scan() if p.root == self._root and p.job == job)
        return {process.task for process in mine if process.task and not process.is_controller}

    def end(self, families: Collection[Family]) -> bool:
        """SIGKILL all of them; True when two looks in a row found none.

        Agents go last: while they live, orphans stay below them and can be found.
        """
        deadline = time.monotonic() + PATIENCE_S
        agents = {family.agent for family in families if family.agent is not None}
        empty = 0
        while empty < 2 and time.monotonic() < deadline:
            found = self._freeze(families, deadline)
            others = [identity for identity in found if identity not in agents]
            victims = others or found
            for identity in victims:
                processes.send(identity, signal.SIGKILL)
            processes.wait_ended(victims, _KILL_WAIT_MS)
            empty = 0 if victims else empty + 1
        return empty >= 2

    def _freeze(self, families: Collection[Family], deadline: float) -> list[Identity]:
        """Stop all of them, so that none forks while the others are being killed."""
        frozen: set[Identity] = set()
        while True:
            found = [process.identity for process in self.find(families)]
            fresh = [identity for identity in found if identity not in frozen]
            if not fresh or time.monotonic() >= deadline:
                return found
            for identity in fresh:
                processes.send(identity, signal.SIGSTOP)
            frozen.update(fresh)
