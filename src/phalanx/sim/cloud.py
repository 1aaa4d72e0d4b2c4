"""Tasks as ECS keeps them: asked for, placed, started, ended, told late, and at last forgotten."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from phalanx.backends.base import Request
from phalanx.clock import SECOND_NS
from phalanx.sim.clock import Actor, Loop
from phalanx.state.observed import ObservedTask
from phalanx.words import FailureClass, TaskState

FORGET_S = 3600.0
"""Stopped tasks are known for about an hour."""


class Occupant(Actor):
    """What a task runs: an agent."""

    def ask_to_leave(self) -> None:
        """SIGTERM."""
        raise RuntimeError("every occupant takes a signal in its own way")


@dataclass
class SimTask:
    """One task. `tells_ns` is when the control plane shows its newest state."""

    id: str
    request: Request
    host: str
    visible_ns: int
    state: TaskState = TaskState.PENDING
    exit_code: int | None = None
    failure: FailureClass | None = None
    reason: str = ""
    tells_ns: int = 0
    forget_ns: int = 1 << 62
    occupant: Occupant | None = None
    deaf_until_ns: int = 0
    """The host's ECS agent is disconnected until then: no stop arrives."""
    is_told_to_stop: bool = False

    def told(self, now_ns: int) -> ObservedTask:
        """As the control plane tells it."""
        state = self.state
        if state is TaskState.STOPPED and now_ns < self.tells_ns:
            state = TaskState.STOPPING if self.is_told_to_stop else TaskState.RUNNING
        is_over = state is TaskState.STOPPED
        return ObservedTask(
            id=self.id,
            token=self.request.token,
            slot=self.request.slot,
            incarnation=self.request.incarnation,
            tries=self.request.tries,
            state=state,
            host=self.host,
            exit_code=self.exit_code if is_over else None,
            failure=self.failure if is_over else None,
            reason=self.reason if is_over else "",
        )


@dataclass
class Cloud:
    """The control plane and the hosts behind it."""

    loop: Loop
    rng: random.Random
    new_occupant: Callable[[SimTask], Occupant]
    on_change: Callable[[str], None]
    token_life_s: float = 86400.0
    hide_s: float = 2.0
    """How long a new task may be hidden from observers."""
    start_s: float = 20.0
    """Longest way from accepted to running."""
    tasks: dict[str, SimTask] = field(default_factory=dict)
    _tokens: dict[str, int] = field(default_factory=dict)

    def submit(self, request: Request) -> SimTask | None:
        """Accept a launch; None when its token has already made a task."""
        asked_ns = self._tokens.get(request.token)
        now_ns = self.loop.now_ns
        if asked_ns is not None and now_ns - asked_ns < self.token_life_s * SECOND_NS:
            return None
        self._tokens[request.token] = now_ns
        name = f"task-{len(self.tasks)}"
        visible_ns = now_ns + int(self.rng.uniform(0, self.hide_s) * SECOND_NS)
        task = SimTask(name, request, f"host-{len(self.tasks)}", visible_ns)
        self.tasks[name] = task
        self.on_change(f"{name} accepted for slot {request.slot}.{request.incarnation}")
        self.loop.after(self.rng.uniform(0, self.start_s), self._start, task)
        return task

    def tell(self) -> tuple[ObservedTask, ...]:
        """Every task that the control plane shows right now."""
        now_ns = self.loop.now_ns
        return tuple(
            task.told(now_ns)
            for task in self.tasks.values()
            if task.visible_ns <= now_ns < task.forget_ns
        )

    def alive(self) -> tuple[SimTask, ...]:
        """Tasks whose processes may live."""
        return tuple(t for t in self.tasks.values() if t.state is not TaskState.STOPPED)

    def stop(self, name: str, grace_s: float) -> None:
        """SIGTERM, a grace, SIGKILL; later for a host that cannot be reached."""
        task = self.tasks.get(name)
        if task is None or task.state is TaskState.STOPPED or task.is_told_to_stop:
            return
        task.is_told_to_stop = True
        wait_s = max(0.0, (task.deaf_until_ns - self.loop.now_ns) / SECOND_NS)
        self.loop.after(wait_s, self._stop, (task, grace_s))

    def end(self, task: SimTask, exit_code: int | None, reason: str, lag_s: float) -> None:
        """The task's process is gone; told after the lag."""
        if task.state is TaskState.STOPPED:
            return
        task.state, task.exit_code, task.reason = TaskState.STOPPED, exit_code, reason
        task.tells_ns = self.loop.now_ns + int(lag_s * SECOND_NS)
        task.forget_ns = task.tells_ns + int(FORGET_S * SECOND_NS)
        if task.occupant is not None:
            task.occupant.kill()
        self.on_change(f"{task.id} ended: {reason}")
        self.loop.after(lag_s, lambda _: self.on_change(""))

    def _start(self, task: SimTask) -> None:
        if task.state is not TaskState.PENDING:
            return
        if task.is_told_to_stop:
            self.end(task, None, "stopped before it ran", 0.0)
            return
        task.state = TaskState.RUNNING
        task.occupant = self.new_occupant(task)
        task.occupant.begin(self.rng.uniform(0.05, 2.0))
        self.on_change(f"{task.id} runs")

    def _stop(self, order: tuple[SimTask, float]) -> None:
        task, grace_s = order
        if task.state is TaskState.PENDING:
            self.end(task, None, "stopped before it ran", 0.0)
        if task.state is not TaskState.RUNNING or task.occupant is None:
            return
        task.state = TaskState.STOPPING
        task.occupant.ask_to_leave()
        self.loop.after(grace_s, self._kill, task)

    def _kill(self, task: SimTask) -> None:
        if task.state is not TaskState.STOPPED:
            self.end(task, 137, "killed after the grace", 0.0)
