"""Findings about tasks and deliveries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from phalanx.explain import pages
from phalanx.explain.gang import Ended
from phalanx.explain.model import INFO, WARNING, Finding, Path, Words, found
from phalanx.explain.reading import Evidence
from phalanx.explain.shapes import mapping, objects, spell, text
from phalanx.explain.task_words import (
    BY_SIGN,
    DUPLICATE,
    LATE,
    SIDE_ENDED,
    SIDE_FAILED,
    SIGTERM,
    STRAY,
    UNKNOWN_CODE,
)
from phalanx.explain.taskfacts import Seen, TaskFacts, repeats
from phalanx.words import FailureClass

_KILLED = 137
_SAID_MAX = 300

PARTIAL = Words(
    "TSK030",
    "partial-placement",
    WARNING,
    "some tasks of the call started and others did not",
    "RunTask answers with `tasks` and `failures` in one success; a gang with a member missing "
    "only waits.",
    "Stop the tasks that did start, and ask for the whole gang again.",
    (pages.RUN_TASK,),
)
MISSING = Words(
    "TSK031",
    "task-missing",
    INFO,
    "the task is not known (any more)",
    "Just after a launch this is normal for some seconds; a stopped task leaves the API after "
    "about an hour.",
    "",
    (pages.STANDALONE,),
)
REFUSED = Words(
    "TSK032",
    "placement-failure",
    WARNING,
    "a task was not placed",
    "",
    "RESOURCE:GPU or RESOURCE:MEMORY: no registered instance has that much free. AGENT: the "
    "instance's agent is not connected. ATTRIBUTE: no instance has an attribute the task needs.",
    (pages.RUN_TASK_FAILURES,),
)


def of_tasks(ended: Iterable[Ended]) -> Iterable[Finding]:
    """Findings about the endings of tasks."""
    for e in ended:
        if e.ending is None:
            continue
        words = BY_SIGN.get(e.ending.sign)
        if words is not None:
            yield at(e.task.seen.evidence, words, _said_at(e.task, e.ending.said), e.ending.said)
        elif e.ending.sign == UNKNOWN_CODE.slug:
            said = f"stopCode {e.task.stop_code}"
            yield at(e.task.seen.evidence, UNKNOWN_CODE, (*e.task.seen.path, "stopCode"), said)
        yield from _of_others(e)
        if _ignored_sigterm(e):
            yield at(e.task.seen.evidence, SIGTERM, _exit_path(e.task))


def _of_others(e: Ended) -> Iterable[Finding]:
    """Containers beside the training that ended the task, or ended badly when it was done."""
    evidence, first = e.task.seen.evidence, e.task.ended_first()
    if first is not None and e.failed:
        said = f"{first.name} exited {first.exit_code}"
        yield at(evidence, SIDE_ENDED, (*first.path, "exitCode"), said)
    if e.failure is not None:
        return
    for container in e.task.others():
        if container.failed:
            why = f" ({container.reason})" if container.reason else ""
            said = f"{container.name} exited {container.exit_code}{why}"
            yield at(evidence, SIDE_FAILED, (*container.path, "exitCode"), said)


def _ignored_sigterm(e: Ended) -> bool:
    asked = (FailureClass.STOPPED_BY_USER, FailureClass.STOPPED_BY_US)
    main = e.task.main()
    return e.failure in asked and main is not None and main.exit_code == _KILLED


def _exit_path(task: TaskFacts) -> Path:
    main = task.main()
    return (*main.path, "exitCode") if main else task.seen.path


def _said_at(task: TaskFacts, said: str) -> Path:
    """The path of the text that was recognised."""
    for container in task.containers():
        if said and container.reason == said:
            return (*container.path, "reason")
    return (*task.seen.path, "stoppedReason")


def of_deliveries(every: Sequence[Seen]) -> Iterable[Finding]:
    """One finding for all repeats of a file, and one for those that came late."""
    for words, group in zip((DUPLICATE, LATE), repeats(every), strict=True):
        if not group:
            continue
        first = group[0]
        where = ", ".join(seen.where for seen in group)
        line, column = first.evidence.place(first.path)
        yield found(words, first.evidence.file, where, line=line, column=column)


def of_strays(tasks: Iterable[TaskFacts]) -> Iterable[Finding]:
    """Findings about tasks that no job of the file owns."""
    for task in tasks:
        yield at(task.seen.evidence, STRAY, (*task.seen.path, "taskArn"), where=task.seen.where)


def of_failures(evidence: Evidence) -> Iterable[Finding]:
    """Findings about `failures` of a RunTask or describe answer."""
    value = mapping(evidence.value)
    refused = False
    for index, item in objects(value.get("failures")):
        reason = text(item.get("reason"))
        words = MISSING if reason == "MISSING" else REFUSED
        refused = refused or words is REFUSED
        yield at(evidence, words, ("failures", index, "reason"), reason)
    if refused and any(True for _ in objects(value.get("tasks"))):
        yield at(evidence, PARTIAL, ("failures",))


def at(evidence: Evidence, words: Words, path: Path, said: str = "", where: str = "") -> Finding:
    """A finding at a path of a document, with the text that shows it."""
    line, column = evidence.place(path)
    message = f"{words.message}: {_cut(said)}" if said else words.message
    return found(
        words, evidence.file, where or spell(path), line=line, column=column, message=message
    )


def _cut(said: str) -> str:
    said = " ".join(said.split())
    return said if len(said) <= _SAID_MAX else said[: _SAID_MAX - 1] + "…"
