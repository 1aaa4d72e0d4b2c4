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
_QUIET_PASSES = 3


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

        Nobody is killed as long as somebody is still free to fork, agents least of all: while
        they live, orphans stay below them and can be found.
        """
        deadline = time.monotonic() + PATIENCE_S
        agents = {family.agent for family in families if family.agent is not None}
        empty = 0
        while empty < 2 and time.monotonic() < deadline:
            found, is_frozen = self._freeze(families, deadline)
            victims = found if is_frozen else found - agents
            for identity in victims:
                processes.send(identity, signal.SIGKILL)
            processes.wait_ended(victims, _KILL_WAIT_MS)
            empty = 0 if found else empty + 1
        return empty >= 2

    def _freeze(self, families: Collection[Family], deadline: float) -> tuple[set[Identity], bool]:
        """Stop all of them; False beside them when new ones kept coming until the deadline."""
        frozen: set[Identity] = set()
        while time.monotonic() < deadline:
            found = {process.identity for process in self.find(families)}
            if found <= frozen:
                return found, True
            for identity in found - frozen:
                processes.send(identity, signal.SIGSTOP)
            frozen |= found
            self._freeze_below(frozen, {family.token for family in families}, deadline)
        return frozen, False

    def _freeze_below(self, frozen: set[Identity], tokens: set[str], deadline: float) -> None:
        """Stop children of the stopped, until some passes in a row meet none that is new.

        A chain of short lives may slip through a scan of all processes, which is slow; its
        links become children of a stopped agent one after the other, and this is fast.
        """
        quiet = 0
        while quiet < _QUIET_PASSES and time.monotonic() < deadline:
            below = [child for parent in frozen for child in processes.children(parent)]
            fresh = [
                child.identity
                for child in below
                if child.identity not in frozen
                and child.pid != os.getpid()
                and not members.is_foreign(child, self._root, tokens)
            ]
            for identity in fresh:
                processes.send(identity, signal.SIGSTOP)
            frozen.update(fresh)
            quiet = 0 if fresh else quiet + 1
