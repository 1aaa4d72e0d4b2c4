"""Records, tasks and endings for tests of the core."""

from __future__ import annotations

from phalanx import names
from phalanx.clock import SECOND_NS
from phalanx.frozen import replace
from phalanx.plan.job import JobPlan, RestartRule
from phalanx.reconcile.decision import Timing
from phalanx.reconcile.look import Look
from phalanx.state.gang import End, Member, RankEnd, World
from phalanx.state.observed import Observed, ObservedTask
from phalanx.state.record import Record, Seat
from phalanx.words import FailureClass, Outcome, TaskState

JOB = "demo-1"
T0 = 1_000 * SECOND_NS
PLAN = JobPlan(name="demo", command=("python", "train.py"), nodes=2, total_steps=100)


def seconds(n: float) -> int:
    return T0 + int(n * SECOND_NS)


def record(nodes: int = 2, *, launched: bool = True, **changes: object) -> Record:
    """A job whose tasks have been asked for and seen alive."""
    one = [Seat(n, launched_ns=T0 if launched else None, seen_alive=launched) for n in range(nodes)]
    made = Record(
        JOB,
        replace(PLAN, nodes=nodes),
        created_ns=T0,
        since_ns=T0,
        attempt_opened_ns=T0,
        seats=tuple(one),
    )
    return replace(made, **changes)


def rules(*on: FailureClass, do: str = "restart", limit: int | None = None) -> RestartRule:
    return RestartRule(on, do=do, limit=limit)


def task(
    slot: int, state: TaskState = TaskState.RUNNING, incarnation: int = 0, **changes: object
) -> ObservedTask:
    token = names.token(JOB, slot, incarnation, 0)
    made = ObservedTask(f"task-{slot}.{incarnation}", token, slot, incarnation, 0, state)
    return replace(made, **changes)


def member(slot: int, attempt: int = 0, incarnation: int = 0) -> Member:
    return Member(slot, incarnation, attempt, "127.0.0.1", 29500 + slot, 1)


def world(nodes: int = 2, attempt: int = 0, **changes: object) -> World:
    members = tuple(member(n, attempt) for n in range(nodes))
    return replace(World(attempt, members), **changes)


def end(
    slot: int, outcome: Outcome = Outcome.SUCCEEDED, exit_code: int = 0, **changes: object
) -> End:
    ranks = (RankEnd(slot, 0, 100 + slot, exit_code, told_to_stop=outcome is Outcome.STOPPED),)
    return replace(End(slot, 0, 0, outcome, ranks, at_ns=T0), **changes)


def look(job: Record, observed: Observed, at_s: float = 1.0, timing: Timing | None = None) -> Look:
    return Look(job, observed, seconds(at_s), timing or Timing())
