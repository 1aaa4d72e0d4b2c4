"""AWS Batch describe-jobs answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from phalanx.explain import pages
from phalanx.explain.model import ERROR, WARNING, Decision, Finding, Path, TaskView, Words
from phalanx.explain.reading import Evidence
from phalanx.explain.shapes import integer, mapping, objects, spell, text
from phalanx.explain.task_findings import at
from phalanx.explain.task_words import BY_SIGN
from phalanx.verdict.tasks import StoppedTask, TaskEnding, classify_task, tier_of_task
from phalanx.words import FailureClass

STUCK = Words(
    "BAT001",
    "batch-job-stuck",
    ERROR,
    "the job cannot start: Batch says that its request and its environment do not fit",
    "",
    "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT: no allowed instance type is large enough. "
    "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE: raise maxvCpus. Waiting changes nothing.",
    (pages.BATCH_STUCK,),
)
NO_CAPACITY = Words(
    "BAT002",
    "batch-no-capacity",
    WARNING,
    "the job waits for capacity that EC2 does not have",
    "",
    "Allow more types or zones (single-node jobs only), or reserve capacity.",
    (pages.BATCH_STUCK,),
)
HOST_LOST = Words(
    "BAT003",
    "batch-host-lost",
    WARNING,
    "the job's host went away while it ran",
    "On Spot this is how a reclaim looks: no exit code, only a status reason about the host.",
    "Give the job a retry strategy that retries on `Host EC2*` and on nothing that the job itself "
    "caused, and let it resume from its last complete checkpoint.",
    (pages.BATCH_RETRY,),
)

_STATES = {
    "SUBMITTED": "pending",
    "PENDING": "pending",
    "RUNNABLE": "pending",
    "STARTING": "pending",
    "RUNNING": "running",
    "SUCCEEDED": "stopped",
    "FAILED": "stopped",
}
_TIMED_OUT = re.compile(r"attempt duration exceeded timeout", re.IGNORECASE)


@dataclass(frozen=True)
class Last:
    """The last attempt of a job: where it stands in the file, and what it says."""

    path: Path
    exit_code: int | None
    container_reason: str
    reason: str
    number: int


def explain_batch(
    evidence: Evidence,
) -> tuple[list[TaskView], list[Decision], list[Finding]]:
    """Tasks (one for each job), a decision for each job, and the findings."""
    views: list[TaskView] = []
    decisions: list[Decision] = []
    findings: list[Finding] = []
    value = evidence.value
    key: Path = ("jobs",) if "jobs" in mapping(value) else ()
    items = value if isinstance(value, list) else mapping(value).get("jobs", [value])
    jobs = [((*key, n) if key or isinstance(value, list) else (), j) for n, j in objects(items)]
    endings = {path: _ending(job, _last(job, path)) for path, job in jobs}
    for group in _gangs(jobs):
        first = _first_of(group, endings)
        decision = _decide(group, endings, first)
        decisions.append(decision)
        for path, job in group:
            ending, last = endings[path], _last(job, path)
            views.append(_view(job, ending, last, decision, path == first))
            findings += _findings(evidence, path, job, ending, last)
    return views, decisions, findings


def _gangs(jobs: list[tuple[Path, dict[str, Any]]]) -> list[list[tuple[Path, dict[str, Any]]]]:
    """Nodes of one multi-node job (`id#0`, `id#1`) belong together; all others stand alone."""
    groups: dict[str, list[tuple[Path, dict[str, Any]]]] = {}
    for path, job in jobs:
        name = text(job.get("jobId")).split("#")[0] or spell(path)
        groups.setdefault(name, []).append((path, job))
    return list(groups.values())


def _last(job: dict[str, Any], path: Path) -> Last:
    attempts = list(objects(job.get("attempts")))
    if attempts:
        index, attempt = attempts[-1]
        inner = mapping(attempt.get("container"))
        where: Path = (*path, "attempts", index)
        reason = text(attempt.get("statusReason")) or text(job.get("statusReason"))
    else:
        inner, where = mapping(job.get("container")), path
        reason = text(job.get("statusReason"))
    if not inner and isinstance(job.get("container"), dict):
        inner = job["container"]
    code = integer(inner.get("exitCode"))
    return Last(where, code, text(inner.get("reason")), reason, len(attempts))


def _ending(job: dict[str, Any], last: Last) -> TaskEnding | None:
    status = text(job.get("status")).upper()
    if status == "SUCCEEDED":
        return TaskEnding(None, "it succeeded")
    if status != "FAILED":
        return None
    if job.get("isTerminated") is True or job.get("isCancelled") is True:
        return TaskEnding(
            FailureClass.STOPPED_BY_USER, "somebody terminated or cancelled it", repeatable=False
        )
    if _TIMED_OUT.search(last.reason):
        return TaskEnding(
            FailureClass.KILLED, "it ran longer than its attempt time-out", repeatable=False
        )
    reasons = tuple(filter(None, (last.container_reason,)))
    return classify_task(StoppedTask("", last.reason, last.exit_code, reasons))


def _first_of(
    group: list[tuple[Path, dict[str, Any]]], endings: dict[Path, TaskEnding | None]
) -> Path | None:
    failed = [
        (
            tier_of_task(ending, _last(job, path).exit_code),
            integer(job.get("stoppedAt")) or 0,
            path,
        )
        for path, job in group
        if (ending := endings[path]) is not None and ending.failure is not None
    ]
    return min(failed, key=lambda f: (f[0], f[1] or 2**62, spell(f[2])))[2] if failed else None


def _decide(
    group: list[tuple[Path, dict[str, Any]]],
    endings: dict[Path, TaskEnding | None],
    first: Path | None,
) -> Decision:
    job = next((job for path, job in group if path == first), group[0][1])
    name = text(job.get("jobName")) or text(job.get("jobId"))
    if first is None:
        done = all((e := endings[path]) is not None and e.failure is None for path, _ in group)
        if done:
            return Decision("succeeded", "the job succeeded", job=name)
        return Decision("none", f"the job is {text(job.get('status')) or 'not ended'}", job=name)
    ending = endings[first]
    assert ending is not None
    assert ending.failure is not None
    reason = f"{name}: {ending.failure.value}, {ending.because}"
    if ending.failure is FailureClass.STOPPED_BY_USER:
        return Decision("none", reason, job=name)
    if not ending.repeatable:
        return Decision("fail", f"{reason}; the same again ends the same", job=name)
    used = _last(job, first).number
    allowed = integer(mapping(job.get("retryStrategy")).get("attempts"))
    if ending.counted and allowed is not None and allowed > 1 and used >= allowed:
        return Decision("fail", f"{reason}; all {allowed} attempts are used", job=name)
    return Decision("restart", reason, used + 1 if used else None, len(group), job=name)


def _view(
    job: dict[str, Any], ending: TaskEnding | None, last: Last, decision: Decision, first: bool
) -> TaskView:
    failed = ending is not None and ending.failure is not None
    action = "none"
    if failed and decision.next in ("restart", "fail"):
        action = "relaunch" if decision.next == "restart" else "fail"
    parts = [last.reason, last.container_reason]
    parts += [f"exit code {last.exit_code}"] if last.exit_code is not None else []
    because = ending.because if ending else text(job.get("status"))
    return TaskView(
        task=text(job.get("jobId")) or text(job.get("jobName")),
        arn=text(job.get("jobArn")),
        state=_STATES.get(text(job.get("status")).upper(), "unknown"),
        failure=ending.failure.value if ending and ending.failure else None,
        action=action,
        exit_code=last.exit_code,
        first_cause=first,
        job=text(job.get("jobName")),
        evidence=((spell(last.path), f"{because} ({'; '.join(filter(None, parts))})"),),
    )


def _findings(
    evidence: Evidence, path: Path, job: dict[str, Any], ending: TaskEnding | None, last: Last
) -> Iterable[Finding]:
    reason = text(job.get("statusReason"))
    if ending is None:
        if "MISCONFIGURATION:" in reason:
            yield at(evidence, STUCK, (*path, "statusReason"), reason)
        elif "CAPACITY:" in reason:
            yield at(evidence, NO_CAPACITY, (*path, "statusReason"), reason)
        return
    where: Path = (*last.path, "statusReason")
    if ending.failure is FailureClass.HOST_LOST:
        yield at(evidence, HOST_LOST, where, last.reason)
    words = BY_SIGN.get(ending.sign)
    if words is not None:
        if ending.said == last.container_reason:
            where = (*last.path, "container", "reason")
        yield at(evidence, words, where, ending.said)
