"""What is left of a job of ours: its record, and the endings that its agents wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from phalanx.explain.model import INFO, Decision, Finding, TaskView, Words
from phalanx.names import split_seat_name
from phalanx.state.codec import loads
from phalanx.state.gang import End
from phalanx.state.record import Cause, Record
from phalanx.verdict.advice import advice
from phalanx.verdict.first_cause import first_cause
from phalanx.verdict.ranks import classify_rank, last_words
from phalanx.words import FailureClass, Outcome, Phase

CAUSE = Words("JOB001", "first-cause", INFO, "what ended the attempt first")

_RECORD = re.compile(r"(?P<base>(?:.*/)?)record(?:/(?P<version>\d{1,12}))?$")
_LOG = re.compile(r"logs/(?:(?:\d+\.\d+-(?P<attempt>\d+))/)?[^/]+$(?<!\.idx)")
_END = re.compile(r"(?:^|.*/)attempts/(?P<attempt>\d{1,9})/ends/(?P<seat>\d{1,9}\.\d{1,9})$")


@dataclass(frozen=True)
class JobAnswer:
    """What one job's folder tells."""

    views: tuple[TaskView, ...]
    decision: Decision
    findings: tuple[Finding, ...]
    attempt: int
    """The attempt that the tasks belong to: the last one with an ending."""


def newest_records(files: Iterable[str]) -> dict[str, str]:
    """Base of every job's folder to the file that holds its newest record."""
    found: dict[str, tuple[int, str]] = {}
    for file in files:
        match = _RECORD.match(file)
        if match:
            place = (int(match["version"] or 0), file)
            found[match["base"]] = max(place, found.get(match["base"], place))
    return {base: file for base, (_, file) in found.items()}


def is_log(base: str, file: str, attempt: int) -> bool:
    """Whether a file below a job's folder is a log or evidence worth reading for an attempt."""
    if file.startswith(f"{base}evidence/"):
        return True
    match = _LOG.match(file[len(base) :])
    return bool(match) and (match is None or match["attempt"] in (None, str(attempt)))


def explain_job(record_file: str, files: Mapping[str, bytes]) -> JobAnswer:
    """What a job's folder tells; `files` are those at and below it.

    Raises `ValueError` when the record is not one.
    """
    record = loads(Record, _body(files[record_file]))
    ends = dict(_ends(files))
    last = max((end.attempt for end in ends.values()), default=record.attempt)
    current = {file: end for file, end in ends.items() if end.attempt == last}
    cause = record.cause
    if cause is None and any(end.outcome is Outcome.FAILED for end in current.values()):
        cause = first_cause(tuple(current.values()))
    views = (
        view for file, end in sorted(current.items()) for view in _views(record, file, end, cause)
    )
    findings = [_of_past(record_file, past.attempt, past.cause) for past in record.history]
    if cause is not None and all(past.cause != cause for past in record.history):
        findings.append(_of_past(record_file, last, cause))
    return JobAnswer(tuple(views), _decision(record), tuple(findings), last)


def _body(data: bytes) -> bytes:
    """An object without the line in which its store names the writer."""
    first, line_end, rest = data.partition(b"\n")
    return rest if line_end and first.startswith(b'{"writer"') else data


def _ends(files: Mapping[str, bytes]) -> Iterable[tuple[str, End]]:
    for file, data in files.items():
        if _END.match(file):
            try:
                yield file, loads(End, _body(data))
            except ValueError:
                continue  # half written: an ending that nobody can read is none


def _views(record: Record, file: str, end: End, cause: Cause | None) -> Iterable[TaskView]:
    match = _END.match(file)
    slot = split_seat_name(match["seat"])[0] if match else end.slot
    for rank in end.ranks:
        failure = FailureClass.STOPPED_BY_US if rank.told_to_stop else classify_rank(rank)
        says = last_words(rank.error) or end.message or end.outcome.value
        yield TaskView(
            task=f"slot {slot} rank {rank.rank}",
            arn=f"pid {rank.pid}",
            state="stopped",
            failure=failure.value if failure else None,
            action="none",
            exit_code=rank.exit_code,
            first_cause=cause is not None and (cause.slot, cause.rank) == (slot, rank.rank),
            job=record.job,
            rank=rank.rank,
            evidence=((file, says),),
        )


def _of_past(file: str, attempt: int, cause: Cause) -> Finding:
    known = advice(cause.failure)
    return Finding(
        rule=CAUSE.id,
        slug=CAUSE.slug,
        severity=CAUSE.severity,
        file=file,
        where=f"attempt {attempt}",
        message=f"{cause.failure.value}: {cause.message}",
        why=known.means,
        fix=known.person,
    )


_NEXT = {Phase.SUCCEEDED: "succeeded", Phase.FAILED: "fail", Phase.STOPPED: "none"}


def _decision(record: Record) -> Decision:
    reason = f"the job is {record.phase.value}: {record.message or record.reason}"
    following = _NEXT.get(record.phase)
    if following is not None:
        return Decision(following, reason, job=record.job, resume_from=record.head_at_open)
    if record.phase is Phase.RESTARTING:
        return Decision(
            "restart", reason, record.attempt, len(record.seats), record.head_at_open, record.job
        )
    return Decision("none", reason, job=record.job, resume_from=record.head_at_open)
