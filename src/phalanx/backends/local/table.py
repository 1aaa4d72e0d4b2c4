"""The tasks of this machine as their folders and the process table tell them."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from phalanx.backends.local import processes
from phalanx.backends.local.members import Family, Identity
from phalanx.backends.local.sweep import Sweeper
from phalanx.backends.local.tasks import Claim, TaskFiles, tasks_folder
from phalanx.state.observed import ObservedTask
from phalanx.words import FailureClass, TaskState


class Table:
    """All tasks of one root. Methods raise `OSError` and, for damaged files, `ValueError`."""

    def __init__(self, root: str, sweeper: Sweeper) -> None:
        self._root = root
        self._sweeper = sweeper
        self._boot = processes.boot()
        self._host = os.uname().nodename
        self._fds: dict[str, tuple[Identity, int]] = {}
        self._ended: dict[str, ObservedTask] = {}
        self._jobs: dict[str, str] = {}

    def files(self, job: str, token: str) -> TaskFiles:
        """The files of one task."""
        return TaskFiles(self._root, job, token)

    def tokens(self, job: str) -> list[str]:
        """Tokens of every task that was ever asked for, sorted."""
        try:
            return sorted(os.listdir(tasks_folder(self._root, job)))
        except FileNotFoundError:
            return []

    def job_of(self, token: str) -> str | None:
        """The job that a token belongs to; None when its folder is gone."""
        if token not in self._jobs:
            jobs = os.path.join(self._root, "jobs")
            for job in os.listdir(jobs) if os.path.isdir(jobs) else ():
                if os.path.isdir(self.files(job, token).folder):
                    self._jobs[token] = job
        return self._jobs.get(token)

    def look(self, job: str) -> list[ObservedTask]:
        """Every task that was claimed, and every one whose bootstrap is about to."""
        found, unclaimed = [], []
        for token in self.tokens(job):
            self._jobs[token] = job
            task = self._ended.get(token) or self._claimed(job, token)
            if task is None:
                unclaimed.append(token)
            else:
                found.append(task)
        return found + self._pending(job, unclaimed)

    def is_alive(self, job: str, token: str) -> bool:
        """Whether the task's agent lives, or a bootstrap is about to become it."""
        claim = self.files(job, token).claim()
        if claim is not None:
            return self._agent(token, claim) is not None
        return bool(self._sweeper.find([Family(token)])) and os.path.isdir(
            self.files(job, token).folder
        )

    def family(self, job: str, token: str) -> Family:
        """What to look for when the task's processes are wanted."""
        files = self.files(job, token)
        claim = files.claim()
        if claim is None or claim.boot != self._boot or files.has("swept"):
            return Family(token)
        return Family(token, claim.identity)

    def processes(self, job: str, token: str) -> list[processes.Process]:
        """Every living process of one task."""
        return list(self._sweeper.find([self.family(job, token)]))

    def fds(self, job: str) -> Sequence[int]:
        """Descriptors of the tasks that the last look found alive."""
        return [fd for token, (_, fd) in self._fds.items() if self._jobs.get(token) == job]

    def close(self) -> None:
        """Give back every descriptor."""
        for token in list(self._fds):
            self._forget(token)

    def _claimed(self, job: str, token: str) -> ObservedTask | None:
        files = self.files(job, token)
        claim = files.claim()
        if claim is None:
            return None
        if self._agent(token, claim) is None:
            self._ended[token] = self._ending(files, claim)
            return self._ended[token]
        state = TaskState.STOPPING if files.stop() else TaskState.RUNNING
        return self._task(token, claim.pid, claim, state)

    def _agent(self, token: str, claim: Claim) -> int | None:
        """A descriptor of the living agent."""
        return self._watch(token, claim.identity) if claim.boot == self._boot else None

    def _watch(self, token: str, identity: Identity) -> int | None:
        held = self._fds.get(token)
        if held is not None and held[0] == identity and not processes.has_ended(held[1]):
            return held[1]
        self._forget(token)
        fd = processes.open_process(*identity)
        if fd is not None:
            self._fds[token] = (identity, fd)
        return fd

    def _forget(self, token: str) -> None:
        held = self._fds.pop(token, None)
        if held is not None:
            os.close(held[1])

    def _pending(self, job: str, tokens: Collection[str]) -> list[ObservedTask]:
        """Bootstraps that have not claimed their task yet."""
        if not tokens:
            return []
        found = self._sweeper.find([Family(token) for token in tokens])
        first = {token: process for process, token in sorted(found.items(), reverse=True)}
        tasks = []
        for token, process in first.items():
            asked = self.files(job, token).request()
            if asked is not None and self._watch(token, process.identity) is not None:
                seat = Claim(*process.identity, self._boot, *_seat(asked))
                tasks.append(self._task(token, process.pid, seat, TaskState.PENDING))
        for token in set(tokens) - set(first):
            self._forget(token)
        return tasks

    def _ending(self, files: TaskFiles, claim: Claim) -> ObservedTask:
        code, note = files.exit_code(), files.stop()
        failure: FailureClass | None
        ended = self._task(files.token, claim.pid, claim, TaskState.STOPPED)
        if code is not None:
            reason, failure = f"the agent exited with {code}", None
        elif claim.boot != self._boot:
            reason, failure = "the machine was restarted", FailureClass.HOST_LOST
        elif note is not None:
            reason, failure = f"killed: {note.reason}", FailureClass.STOPPED_BY_US
        else:
            reason = "the agent ended and left no exit code: it was killed"
            failure = FailureClass.KILLED
        return replace(ended, exit_code=code, failure=failure, reason=reason)

    def _task(self, token: str, pid: int, seat: Claim, state: TaskState) -> ObservedTask:
        return ObservedTask(
            id=str(pid),
            token=token,
            slot=seat.slot,
            incarnation=seat.incarnation,
            tries=seat.tries,
            state=state,
            host=self._host,
        )


def _seat(asked: dict[str, Any]) -> tuple[int, int, int]:
    try:
        return asked["slot"], asked["incarnation"], asked["tries"]
    except KeyError as error:
        raise ValueError(f"a request without {error}") from error
