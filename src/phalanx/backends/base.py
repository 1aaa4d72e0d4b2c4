"""The backend port: render, launch, observe, stop. Four methods and no more.

A new ability is a new small Protocol beside it, found by type (`Notifies`, `Cleans`, `Enters`).
`tests/contract/test_backends.py` runs one suite against every backend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from phalanx.plan.job import JobPlan
from phalanx.state.observed import ObservedTask
from phalanx.state.record import Seat


@dataclass(frozen=True)
class Request:
    """One rendered launch: exactly what the target will be asked, as plain JSON values.

    `token` is the idempotency token: two launches with one token make at most one task.
    """

    job: str
    slot: int
    incarnation: int
    tries: int
    token: str
    body: str
    """Canonical JSON of the request in the target's own words."""


class Backend(Protocol):
    """A place that runs tasks."""

    def render(self, job: str, plan: JobPlan, seat: Seat) -> Request:
        """The launch of one seat. Pure: no I/O, equal inputs give equal bytes."""
        ...

    def launch(self, request: Request) -> None:
        """Ask for the task; safe to repeat; returns once accepted, never waits for running.

        Raises `Throttled`, `NoCapacity` or `LaunchRefused`. The answer is never proof:
        `observe` is.
        """
        ...

    def observe(self, job: str) -> tuple[ObservedTask, ...]:
        """Every task the target still knows of the job, endings included; complete or raise."""
        ...

    def stop(self, task: ObservedTask, reason: str, grace_s: float) -> None:
        """Ask a task to end: signal, grace, kill. Safe to repeat; already gone is success."""
        ...


@runtime_checkable
class Notifies(Protocol):
    """A backend whose task endings wake a `select` (pid file descriptors)."""

    def wake_fds(self, job: str) -> Sequence[int]:
        """File descriptors that turn readable when a task of the job ends."""
        ...


@runtime_checkable
class Cleans(Protocol):
    """A backend that can find and remove what tasks left behind outside themselves."""

    def leftovers(self, job: str, alive: Sequence[str]) -> tuple[str, ...]:
        """Remains of the job that belong to none of the alive tasks (tokens)."""
        ...

    def clean(self, job: str, leftovers: Sequence[str]) -> None:
        """Remove them; already gone is success."""
        ...


@runtime_checkable
class Enters(Protocol):
    """A backend that can run a command inside a task, where its ranks run.

    The command is `python -m phalanx.agent.enter WORDS` in the environment that the task's agent
    was started with; what it then becomes is its own affair. Both raise `BackendError` when the
    task does not run or does not let us in.
    """

    def enter(self, task: ObservedTask, words: Mapping[str, object]) -> int:
        """Run it with our input and output, in a terminal where we have one; its exit code."""
        ...

    def ask(self, task: ObservedTask, words: Mapping[str, object], limit_s: float) -> bytes:
        """Run it without input, at most `limit_s`; what it printed."""
        ...
