"""The job that the tasks belong to: its ranks, its attempts, and the stops that we asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from phalanx.explain.reading import Evidence
from phalanx.explain.shapes import integer, moment, objects, sequence, short, text
from phalanx.explain.taskfacts import TaskFacts

_CLOCK_SLACK_S = 5.0
_ATTEMPT = re.compile(r"(?:^|/)a(?:ttempt-?)?(\d{1,6})$")


@dataclass(frozen=True)
class Intent:
    """One stop that the controller recorded before asking for it."""

    arn: str
    at: float | None
    reason: str


@dataclass(frozen=True)
class JobFacts:
    """What the controller knows of one job."""

    id: str
    attempt: int | None = None
    max_attempts: int | None = None
    world_size: int | None = None
    ranks: tuple[tuple[int | None, str], ...] = ()
    """(rank, task ARN)."""
    intents: tuple[Intent, ...] = ()

    def asked_for(self, task: TaskFacts) -> bool:
        """Whether the stop of a task is one that we recorded."""
        return any(_matches(intent, task) for intent in self._by_id.get(short(task.arn), ()))

    @cached_property
    def _by_id(self) -> dict[str, list[Intent]]:
        found: dict[str, list[Intent]] = {}
        for intent in self.intents:
            found.setdefault(short(intent.arn), []).append(intent)
        return found


def same_task(one: str, other: str) -> bool:
    """Whether two names mean one task; a short id matches the ARN that ends with it."""
    if one == other:
        return bool(one)
    if _is_whole(one) and _is_whole(other):
        return False
    return bool(short(one)) and short(one) == short(other)


def _is_whole(arn: str) -> bool:
    return arn.startswith("arn:") and arn.count("/") >= 2


def _matches(intent: Intent, task: TaskFacts) -> bool:
    if not same_task(intent.arn, task.arn):
        return False
    said, reason = _words(intent.reason), _words(task.reason)
    if said and reason and not (reason.startswith(said) or said.startswith(reason)):
        return False
    stopped = task.stopped_at
    return intent.at is None or stopped is None or intent.at <= stopped + _CLOCK_SLACK_S


def _words(reason: str) -> str:
    return " ".join(reason.split()).casefold()


def jobs_of(evidence: Evidence) -> list[JobFacts]:
    """The job blocks of one file."""
    value = evidence.value
    if not isinstance(value, dict):
        return []
    blocks = [value["job"]] if isinstance(value.get("job"), dict) else []
    blocks += [block for block in sequence(value.get("jobs")) if isinstance(block, dict)]
    common = value.get("controller_intents")
    return [_job(block, common, number) for number, block in enumerate(blocks)]


def _job(block: dict[str, Any], common: Any, number: int) -> JobFacts:
    name = text(block.get("job_id")) or text(block.get("id")) or text(block.get("name"))
    own = (block.get(key) for key in ("controller_intents", "stop_intents", "intents"))
    intents = [intent for found in (*own, common) for intent in _intents(found)]
    return JobFacts(
        name or f"job-{number}",
        integer(block.get("attempt")),
        integer(block.get("max_attempts")),
        integer(block.get("world_size")),
        tuple(
            (integer(item.get("rank")), text(item.get("taskArn")) or text(item.get("task")))
            for _, item in objects(block.get("ranks"))
        ),
        tuple(intents),
    )


def _intents(value: Any) -> Iterable[Intent]:
    for _, item in objects(value):
        action = text(item.get("action")).lower()
        if action and "stop" not in action:
            continue
        arns = [text(item.get("taskArn")) or text(item.get("task"))]
        arns += [text(arn) for arn in sequence(item.get("taskArns"))]
        for arn in filter(None, arns):
            yield Intent(arn, moment(item.get("at")), text(item.get("reason")))


def implied_jobs(tasks: Iterable[TaskFacts]) -> list[tuple[JobFacts, list[TaskFacts]]]:
    """Jobs of tasks that no job block names: those that one caller started belong together."""
    groups: dict[str, list[TaskFacts]] = {}
    for task in tasks:
        if task.is_service:
            continue
        by = text(task.detail.get("startedBy")) or text(task.detail.get("group"))
        groups.setdefault(by, []).append(task)
    return [(_implied(by, group), group) for by, group in groups.items()]


def _implied(by: str, group: list[TaskFacts]) -> JobFacts:
    match = _ATTEMPT.search(by)
    ranks = tuple((None, task.arn) for task in group)
    return JobFacts(by, int(match[1]) if match else None, None, None, ranks)
