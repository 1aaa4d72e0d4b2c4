"""Which processes belong to which task of a job: marks, sessions and descent. Pure.

A process belongs to a task when one of these holds, strongest first:

1. its environment carries the task's token and this root (also after setsid and double fork);
2. it was known to belong before (it may have cleared its environment since);
3. it is in the session of the task's agent;
4. its parent belongs to the task. The agent adopts orphans, so that descent survives a double
   fork for as long as the agent lives.

What cannot be found: a process that left the session *and* cleared its environment, and whose
agent was then killed before anybody looked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from phalanx.backends.local.processes import Process

Identity = tuple[int, int]


class Family(NamedTuple):
    """One task of interest, and its agent when the process table can still speak of it."""

    token: str
    agent: Identity | None = None


def belonging(
    root: str,
    families: Collection[Family],
    processes: Sequence[Process],
    known: Mapping[Identity, str],
    outside: Collection[int] = (),
) -> dict[Process, str]:
    """Processes of these tasks, with their tokens. `outside` are pids that never belong."""
    tokens = {family.token for family in families}
    sessions = _sessions(families, processes)
    owned: dict[int, str] = {}
    foreign: set[int] = set(outside)
    for process in processes:
        token = _own_token(process, root, known, sessions)
        if process.pid in foreign or is_foreign(process, root, tokens):
            foreign.add(process.pid)
        elif token in tokens:
            owned[process.pid] = token
    _descend(processes, owned, foreign)
    return {process: owned[process.pid] for process in processes if process.pid in owned}


def _own_token(
    process: Process,
    root: str,
    known: Mapping[Identity, str],
    sessions: Mapping[int, tuple[str, int]],
) -> str:
    if process.task and process.root == root:
        return process.task
    if process.identity in known:
        return known[process.identity]
    token, start = sessions.get(process.session, ("", 0))
    return token if process.start >= start else ""


def is_foreign(process: Process, root: str, tokens: Collection[str]) -> bool:
    """Whether it is a controller or says itself that it belongs to another task."""
    is_other = bool(process.task) and not (process.root == root and process.task in tokens)
    return process.is_controller or is_other


def _sessions(
    families: Collection[Family], processes: Sequence[Process]
) -> dict[int, tuple[str, int]]:
    """Session id → (token, start of its agent), unless the agent's pid has been reused.

    A pid cannot be reused while its session has members.
    """
    start_of = {process.pid: process.start for process in processes}
    return {
        pid: (family.token, start)
        for family in families
        if family.agent is not None
        for pid, start in [family.agent]
        if start_of.get(pid, start) == start
    }


def _descend(processes: Sequence[Process], owned: dict[int, str], foreign: Collection[int]) -> None:
    """Give children their parent's token, until nothing changes."""
    is_news = True
    while is_news:
        is_news = False
        for process in processes:
            if process.pid in owned or process.pid in foreign:
                continue
            if process.parent in owned:
                owned[process.pid] = owned[process.parent]
                is_news = True
