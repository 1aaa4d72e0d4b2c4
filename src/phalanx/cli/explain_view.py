"""An explanation as text: decisions first, then tasks, then findings."""

from __future__ import annotations

from collections.abc import Iterator

from phalanx.explain.model import Decision, Explanation, Finding, Resume, TaskView

_REFUSED_MAX = 5


def explained(answer: Explanation) -> str:
    """The whole page."""
    lines: list[str] = []
    for decision in answer.decisions:
        lines += _decision(decision)
    for resume in answer.resumes:
        lines += _resume(resume)
    if answer.tasks:
        lines += ["", "tasks"]
        lines += [line for task in answer.tasks for line in _task(task)]
    for finding in answer.findings:
        lines += ["", *_finding(finding)]
    text = "\n".join(lines).strip("\n")
    return text or "nothing in it tells of a failure"


def _decision(decision: Decision) -> Iterator[str]:
    words = {
        "restart": f"restart {decision.relaunch} task{'' if decision.relaunch == 1 else 's'}",
        "fail": "fail: do not start it again unchanged",
        "none": "do nothing",
        "succeeded": "it succeeded",
    }[decision.next]
    if decision.next == "restart" and decision.next_attempt is not None:
        words += f" as attempt {decision.next_attempt}"
    if decision.next == "restart" and decision.resume_from:
        words += f" from {decision.resume_from}"
    yield f"{decision.job or 'job'}: {words}"
    yield f"  because {decision.reason}"


def _resume(resume: Resume) -> Iterator[str]:
    yield f"resume from {resume.start or 'the beginning: no checkpoint is provably complete'}"
    for name, because in resume.refused[-_REFUSED_MAX:]:
        yield f"  not {name}: {because}"


def _task(task: TaskView) -> Iterator[str]:
    first = " (first cause)" if task.first_cause else ""
    rank = f"rank {task.rank}  " if task.rank is not None else ""
    code = f"  exit {task.exit_code}" if task.exit_code is not None else ""
    what = f"{task.failure or 'no failure'}{first}{code}"
    yield f"  {rank}{task.task}  {task.state}  {what}  → {task.action}"
    for where, says in task.evidence:
        yield f"    {where}: {says}"


def _finding(finding: Finding) -> Iterator[str]:
    place = f":{finding.line}:{finding.column}" if finding.line else ""
    yield f"{finding.severity}: {finding.message}"
    yield f"  at {finding.file}{place}  {finding.where}  [{finding.rule} {finding.slug}]"
    if finding.why:
        yield f"  why: {finding.why}"
    if finding.fix:
        yield f"  fix: {finding.fix}"
    for source in finding.sources:
        yield f"  see: {source.url} (checked {source.verified})"
