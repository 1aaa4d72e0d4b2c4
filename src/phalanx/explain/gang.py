"""What should become of a job: one decision for the gang, one action for each task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from phalanx.explain.jobs import JobFacts, same_task
from phalanx.explain.model import Decision, TaskView
from phalanx.explain.shapes import short
from phalanx.explain.taskfacts import Container, TaskFacts
from phalanx.verdict.tasks import (
    ON_PURPOSE,
    UNHEALTHY,
    StoppedTask,
    TaskEnding,
    classify_task,
    tier_of_task,
)
from phalanx.words import FailureClass

TOGETHER_S = 0.2
"""Stops that lie closer than this cannot be put in order: their hosts' clocks differ."""

_NOT_A_FAILURE = (None, FailureClass.STOPPED_BY_US, FailureClass.SUPERSEDED)


@dataclass(frozen=True)
class Ended:
    """A task, and its ending if it has one."""

    task: TaskFacts
    ending: TaskEnding | None
    rank: int | None = None

    @property
    def failure(self) -> FailureClass | None:
        """The class of its ending."""
        return self.ending.failure if self.ending else None

    @property
    def failed(self) -> bool:
        """Whether it ended badly, and not because we asked for it."""
        return self.ending is not None and self.failure not in _NOT_A_FAILURE


def ending_of(task: TaskFacts, ours: bool, spot_hosts: frozenset[str] = frozenset()) -> TaskEnding:
    """The ending of a stopped task."""
    ending = _classified(task, ours)
    if ending.failure is FailureClass.HOST_LOST and any(h in task.reason for h in spot_hosts):
        return TaskEnding(FailureClass.SPOT_INTERRUPTION, "its Spot host was taken back")
    return ending


def _classified(task: TaskFacts, ours: bool) -> TaskEnding:
    """The ending as the container tells it that decides, or the one that ended before it."""
    main, first = task.main(), task.ended_first()
    teller = first or main
    code = teller.exit_code if teller else None
    reasons = [teller.reason] if teller else []
    if code is None:  # nothing ran to its end: any container may say why
        reasons += [c.reason for c in task.others()]
    done = code == 0 and task.stop_code == "EssentialContainerExited"
    said = tuple(filter(None, reasons))
    ending = classify_task(
        StoppedTask(task.stop_code, "" if done else task.reason, code, said, ours)
    )
    if first is None or main is None:
        return ending
    name = f"its container {first.name}"
    told = ending.because
    told = f"{name} {told[3:]}" if told.startswith("it ") else f"{name}: {told}"
    because = f"{told}; then ECS stopped {main.name} with it (exit code {main.exit_code})"
    return replace(ending, failure=ending.failure or FailureClass.KILLED, because=because)


def members(
    job: JobFacts, tasks: Sequence[TaskFacts], spot_hosts: frozenset[str] = frozenset()
) -> list[Ended]:
    """The job's tasks that the evidence knows, in the order of their ranks."""
    by_id: dict[str, list[TaskFacts]] = {}
    for task in tasks:
        by_id.setdefault(short(task.arn), []).append(task)
    found: dict[str, Ended] = {}
    for rank, arn in job.ranks:
        for task in by_id.get(short(arn), ()):
            if task.arn in found or not same_task(arn, task.arn):
                continue
            ours = job.asked_for(task)
            ending = ending_of(task, ours, spot_hosts) if task.stopped else None
            found[task.arn] = Ended(task, ending, rank)
    return sorted(found.values(), key=lambda e: (e.rank is None, e.rank or 0, e.task.arn))


def first_of(ended: Sequence[Ended]) -> tuple[Ended, ...]:
    """The first cause among failed tasks; more than one when nobody can tell which was first."""
    failed = [e for e in ended if e.failed]
    if not failed:
        return ()

    def place(e: Ended) -> tuple[int, float, str]:
        at = e.task.stopped_at
        return (_tier(e), float("inf") if at is None else at, e.task.arn)

    first = min(failed, key=place)
    at = place(first)[1]
    near = [
        e
        for e in failed
        if e is not first and place(e)[0] == place(first)[0] and abs(place(e)[1] - at) < TOGETHER_S
    ]
    return (first, *sorted(near, key=place)) if at != float("inf") else (first,)


def _tier(e: Ended) -> int:
    if e.ending is None or e.failure is FailureClass.STOPPED_BY_USER:
        return -1
    if e.ending.sign == ON_PURPOSE:
        return -1
    main = e.task.main()
    return tier_of_task(e.ending, main.exit_code if main else None)


def decide(job: JobFacts, ended: Sequence[Ended]) -> Decision:
    """The decision for a job: permutations and repeats of the evidence do not change it."""
    size = _size(job, ended)
    first = first_of(ended)
    if not first:
        return _no_failure(job, ended, size)
    cause = first[0]
    ending = cause.ending
    assert ending is not None
    name = f"{_subject(cause)}: {cause.failure.value if cause.failure else ''}, {ending.because}"
    if cause.failure is FailureClass.STOPPED_BY_USER:
        return Decision("none", f"{name}; a stop that we did not record is a person's", job=job.id)
    if ending.sign == UNHEALTHY:
        return Decision("none", f"{name}; the service replaces it itself", job=job.id)
    if ending.sign == ON_PURPOSE:
        return Decision("none", f"{name}; the service starts what it still wants", job=job.id)
    if not ending.repeatable:
        return Decision("fail", f"{name}; the same again ends the same", job=job.id)
    attempts = job.attempt
    if ending.counted and _is_last(job):
        used = f"attempt {attempts} was the last of {job.max_attempts}"
        return Decision("fail", f"{name}; {used}", job=job.id)
    counts = "" if ending.counted else "; it does not count against the job's attempts"
    return Decision(
        "restart",
        f"{name}; the whole gang starts again{counts}",
        next_attempt=None if attempts is None else attempts + 1,
        relaunch=size,
        job=job.id,
    )


def _is_last(job: JobFacts) -> bool:
    known = job.attempt is not None and job.max_attempts is not None
    return known and (job.attempt or 0) >= (job.max_attempts or 0)


def _no_failure(job: JobFacts, ended: Sequence[Ended], size: int) -> Decision:
    done = [e for e in ended if e.ending is not None and e.failure is None]
    ours = [e for e in ended if e.failure is not None]
    if done and len(done) == len(ended) >= size:
        return Decision("succeeded", "every task exited 0", job=job.id)
    if ours:
        names = ", ".join(short(e.task.arn) for e in ours)
        return Decision("none", f"we asked for the stop of {names}; no task failed", job=job.id)
    return Decision("none", "no task has failed", job=job.id)


def _size(job: JobFacts, ended: Sequence[Ended]) -> int:
    """Number of tasks of the gang: the ranks' tasks, and those that were never listed."""
    tasks = {arn for _, arn in job.ranks if arn}
    unlisted = max(0, (job.world_size or 0) - len(job.ranks)) if job.ranks else 0
    return max(len(tasks) + unlisted, len(ended)) if job.ranks else max(job.world_size or 0, 1)


def _subject(e: Ended) -> str:
    name = short(e.task.arn)
    return f"rank {e.rank} (task {name})" if e.rank is not None else f"task {name}"


def views(job: str, ended: Sequence[Ended], decision: Decision | None) -> list[TaskView]:
    """One entry for each task."""
    first = {e.task.arn for e in first_of(ended)}
    return [_view(job, e, decision, e.task.arn in first) for e in ended]


def _view(job: str, e: Ended, decision: Decision | None, first: bool) -> TaskView:
    main = e.task.main() if e.task.stopped else None
    return TaskView(
        task=short(e.task.arn),
        arn=e.task.arn,
        state=e.task.state,
        failure=e.failure.value if e.failure else None,
        action=_action(e, decision),
        exit_code=main.exit_code if main else None,
        first_cause=first,
        job=job,
        rank=e.rank,
        evidence=_evidence(e),
    )


def _action(e: Ended, decision: Decision | None) -> str:
    if decision is not None:
        if decision.next == "restart":
            return "relaunch"
        return "fail" if decision.next == "fail" and e.failed else "none"
    if not e.failed or e.failure is FailureClass.STOPPED_BY_USER or _is_kept(e):
        return "none"
    return "relaunch" if e.ending and e.ending.repeatable else "fail"


def _is_kept(e: Ended) -> bool:
    """Whether a service starts another by itself."""
    return e.task.is_service or (e.ending is not None and e.ending.sign in (UNHEALTHY, ON_PURPOSE))


def _evidence(e: Ended) -> tuple[tuple[str, str], ...]:
    task = e.task
    if e.ending is None:
        return ((task.seen.where, f"lastStatus {task.seen.status or 'unknown'}"),)
    parts = [f"stopCode {task.stop_code}"] if task.stop_code else []
    main = task.main()
    if main and main.exit_code is not None:
        parts.append(f"exit code {main.exit_code}")
    if main and main.reason:
        parts.append(main.reason)
    parts += [_of_other(c) for c in task.others() if c.failed or c == task.ended_first()]
    if task.reason:
        parts.append(f"stoppedReason {task.reason!r}")
    return ((task.seen.where, f"{e.ending.because} ({'; '.join(parts) or 'no reason given'})"),)


def _of_other(container: Container) -> str:
    said = f": {container.reason}" if container.reason else ""
    return f"container {container.name} exit code {container.exit_code}{said}"
