"""Sort what was observed into named buckets; every observed task is in exactly one."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx import names
from phalanx.clock import SECOND_NS
from phalanx.reconcile.decision import Timing
from phalanx.state.observed import Observed, ObservedTask
from phalanx.state.record import Record, Seat
from phalanx.words import TaskState


@dataclass(frozen=True)
class Buckets:
    """Tasks by meaning, and seats without a task by meaning.

    stray: not the task of any seat, still alive. gone: not of any seat, ended.
    starting, running, stopping, stopped: the tasks of the seats that take part.
    standby: the tasks of the others, of parked seats, alive or ended.
    missing, hidden and vanished are seats that take part. missing: their launch was never
    intended. hidden: intended, not to be seen yet.
    vanished: seen alive once and now unknown to the target, or intended long ago and never seen.
    """

    stray: tuple[ObservedTask, ...] = ()
    gone: tuple[ObservedTask, ...] = ()
    starting: tuple[ObservedTask, ...] = ()
    running: tuple[ObservedTask, ...] = ()
    stopping: tuple[ObservedTask, ...] = ()
    stopped: tuple[ObservedTask, ...] = ()
    missing: tuple[Seat, ...] = ()
    hidden: tuple[Seat, ...] = ()
    vanished: tuple[Seat, ...] = ()
    standby: tuple[ObservedTask, ...] = ()

    @property
    def alive(self) -> tuple[ObservedTask, ...]:
        """Every task that may still hold devices."""
        standby = tuple(task for task in self.standby if task.is_alive)
        return self.stray + self.starting + self.running + self.stopping + standby

    @property
    def lost_slots(self) -> frozenset[int]:
        """Slots whose seated task has ended or is gone."""
        return frozenset(t.slot for t in self.stopped) | frozenset(s.slot for s in self.vanished)


def sort_tasks(record: Record, observed: Observed, now_ns: int, timing: Timing) -> Buckets:
    """The buckets of one look."""
    seated = {
        names.token(record.job, s.slot, s.incarnation, s.tries): s
        for s in record.seats
        if s.launched_ns is not None
    }
    tasks: dict[str, list[ObservedTask]] = {name: [] for name in _TASK_BUCKETS}
    seen = set()
    for task in sorted(observed.tasks, key=lambda t: (t.slot, t.incarnation, t.tries, t.id)):
        tasks[_bucket(task, seated.get(task.token))].append(task)
        if task.token in seated:
            seen.add(seated[task.token].slot)
    seats: dict[str, list[Seat]] = {"missing": [], "hidden": [], "vanished": []}
    for seat in record.active:
        if seat.slot not in seen:
            seats[absence(seat, now_ns, timing)].append(seat)
    return Buckets(
        stray=tuple(tasks["stray"]),
        gone=tuple(tasks["gone"]),
        starting=tuple(tasks["starting"]),
        running=tuple(tasks["running"]),
        stopping=tuple(tasks["stopping"]),
        stopped=tuple(tasks["stopped"]),
        missing=tuple(seats["missing"]),
        hidden=tuple(seats["hidden"]),
        vanished=tuple(seats["vanished"]),
        standby=tuple(tasks["standby"]),
    )


_TASK_BUCKETS = ("stray", "gone", "starting", "running", "stopping", "stopped", "standby")
_BY_STATE = {
    TaskState.PENDING: "starting",
    TaskState.RUNNING: "running",
    TaskState.STOPPING: "stopping",
    TaskState.STOPPED: "stopped",
}


def _bucket(task: ObservedTask, seat: Seat | None) -> str:
    if seat is not None:
        return "standby" if seat.parked else _BY_STATE[task.state]
    return "stray" if task.is_alive else "gone"


def absence(seat: Seat, now_ns: int, timing: Timing) -> str:
    """Why a seat has no task: `missing`, `hidden` or `vanished`."""
    if seat.launched_ns is None:
        return "missing"
    if seat.seen_alive:
        return "vanished"
    waited_s = (now_ns - seat.launched_ns) / SECOND_NS
    return "vanished" if waited_s > timing.launch_grace_s else "hidden"
