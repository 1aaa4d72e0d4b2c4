"""What an explanation is made of: findings, tasks, decisions, resume points."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

ERROR = "error"
WARNING = "warning"
INFO = "info"

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Source:
    """A page that says so, and the day it was last checked (`YYYY-MM-DD`, or `undated`)."""

    url: str
    verified: str = "undated"


@dataclass(frozen=True)
class Words:
    """The fixed words of one kind of finding."""

    id: str
    slug: str
    severity: str
    message: str
    why: str = ""
    fix: str = ""
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One thing found in the evidence; `line` and `column` start at 1, 0 means not known."""

    rule: str
    slug: str
    severity: str
    file: str
    where: str
    message: str
    why: str = ""
    fix: str = ""
    sources: tuple[Source, ...] = ()
    line: int = 0
    column: int = 0

    def plain(self) -> dict[str, Any]:
        """The object of the contract."""
        return {
            "rule": self.rule,
            "slug": self.slug,
            "severity": self.severity,
            "file": self.file,
            "where": self.where,
            "line": self.line,
            "column": self.column,
            "message": self.message,
            "why": self.why,
            "fix": self.fix,
            "sources": [{"url": s.url, "verified": s.verified} for s in self.sources],
        }


def found(words: Words, file: str, where: str, **own: Any) -> Finding:
    """A finding with a kind's fixed words; `own` replaces some of them."""
    finding = Finding(
        rule=words.id,
        slug=words.slug,
        severity=words.severity,
        file=file,
        where=where,
        message=words.message,
        why=words.why,
        fix=words.fix,
        sources=words.sources,
    )
    return replace(finding, **own)


@dataclass(frozen=True)
class TaskView:
    """What is known of one task, and what should be done about it."""

    task: str
    """The short id: the last part of the ARN."""
    arn: str
    state: str
    failure: str | None
    action: str
    """`relaunch`, `fail` or `none`."""
    exit_code: int | None = None
    first_cause: bool = False
    job: str = ""
    rank: int | None = None
    evidence: tuple[tuple[str, str], ...] = ()

    def plain(self) -> dict[str, Any]:
        """The object of the contract."""
        return {
            "task": self.task,
            "arn": self.arn,
            "job": self.job or None,
            "rank": self.rank,
            "state": self.state,
            "class": self.failure,
            "exit_code": self.exit_code,
            "action": self.action,
            "first_cause": self.first_cause,
            "evidence": [{"where": where, "says": says} for where, says in self.evidence],
        }


@dataclass(frozen=True)
class Decision:
    """What to do about one job."""

    next: str
    """`restart`, `fail`, `none` or `succeeded`."""
    reason: str
    next_attempt: int | None = None
    relaunch: int = 0
    resume_from: str | None = None
    job: str = ""

    def plain(self) -> dict[str, Any]:
        """The object of the contract."""
        return {
            "job": self.job or None,
            "next": self.next,
            "next_attempt": self.next_attempt,
            "relaunch": self.relaunch,
            "reason": self.reason,
            "resume_from": self.resume_from,
        }


@dataclass(frozen=True)
class Resume:
    """The checkpoint to go on from, and those that must not be used."""

    start: str | None
    refused: tuple[tuple[str, str], ...] = ()
    root: str = ""

    def plain(self) -> dict[str, Any]:
        """The object of the contract."""
        return {
            "root": self.root or None,
            "from": self.start,
            "refused": [{"name": name, "because": because} for name, because in self.refused],
        }


@dataclass(frozen=True)
class Explanation:
    """The whole answer."""

    files: int = 0
    findings: tuple[Finding, ...] = ()
    tasks: tuple[TaskView, ...] = ()
    decisions: tuple[Decision, ...] = ()
    resumes: tuple[Resume, ...] = ()
    notes: tuple[str, ...] = field(default=())
    """For people, on standard error: files left aside and why."""

    def plain(self) -> dict[str, Any]:
        """`phalanx.explain/1`; `decision` and `resume` stand alone when there is exactly one."""
        counts = {s: sum(f.severity == s for f in self.findings) for s in (ERROR, WARNING, INFO)}
        answer: dict[str, Any] = {
            "schema": "phalanx.explain/1",
            "findings": [finding.plain() for finding in self.findings],
            "summary": {
                "files": self.files,
                "errors": counts[ERROR],
                "warnings": counts[WARNING],
                "infos": counts[INFO],
            },
        }
        if len(self.decisions) == 1:
            answer["decision"] = self.decisions[0].plain()
        elif self.decisions:
            answer["decisions"] = [decision.plain() for decision in self.decisions]
        if self.tasks:
            answer["tasks"] = [task.plain() for task in self.tasks]
        if len(self.resumes) == 1:
            answer["resume"] = self.resumes[0].plain()
        elif self.resumes:
            answer["resumes"] = [resume.plain() for resume in self.resumes]
        return answer
