"""All the evidence of one call is one world: read it, find what happened, decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from phalanx.errors import InputError
from phalanx.explain import batch, capacity, folder, kinds, logs
from phalanx.explain.checkpoints import explain_listing
from phalanx.explain.gang import Ended, decide, ending_of, members, views
from phalanx.explain.incidents import of_incident
from phalanx.explain.jobs import JobFacts, implied_jobs, jobs_of
from phalanx.explain.model import (
    ERROR,
    INFO,
    WARNING,
    Decision,
    Explanation,
    Finding,
    Resume,
    TaskView,
)
from phalanx.explain.reading import Evidence, Input, load
from phalanx.explain.shapes import text
from phalanx.explain.shown import Shown
from phalanx.explain.situations import is_plan, of_plan
from phalanx.explain.task_findings import of_deliveries, of_failures, of_strays, of_tasks
from phalanx.explain.taskfacts import (
    Seen,
    TaskFacts,
    gather,
    instances_of,
    looks,
    spot_warnings,
)
from phalanx.explain.texts import CAUSE

_SEVERITY = (ERROR, WARNING, INFO)


@dataclass
class World:
    """What has been read so far."""

    findings: list[Finding] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    jobs: list[JobFacts] = field(default_factory=list)
    views: list[TaskView] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    resumes: list[Resume] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    quotas: dict[str, float] = field(default_factory=dict)
    hosts: dict[str, str] = field(default_factory=dict)
    spot: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


def explain(inputs: Sequence[Input]) -> Explanation:
    """The explanation of the files together, in any order.

    Raises `InputError` when a file is broken, or when none of the files is evidence.
    """
    world = World()
    rest = list(inputs)
    for base, record in folder.newest_records(given.file for given in inputs).items():
        rest = _job_folder(world, base, record, rest)
    read = [(evidence, _kind(evidence)) for evidence in _load(world, rest)]
    for evidence, _ in read:
        world.quotas.update(capacity.quotas_in(evidence))
    used = [evidence for evidence, kind in read if _read_one(world, evidence, kind)]
    _settle_tasks(world)
    world.findings += logs.of_logs(world.shown)
    if not used and not world.decisions:
        raise _nothing(read)
    return _answer(world, len(inputs))


def _load(world: World, given: Sequence[Input]) -> Iterable[Evidence]:
    for item in given:
        try:
            yield load(item)
        except InputError as error:
            if not item.optional:
                raise
            world.notes.append(error.line())


def _kind(evidence: Evidence) -> str:
    if evidence.value is not None:
        kind = kinds.recognise(evidence.value)
        return "log" if kind == kinds.UNKNOWN and evidence.lines else kind
    if kinds.is_intent_text(evidence.text, evidence.file):
        return kinds.INTENT
    return "log"


def _read_one(world: World, evidence: Evidence, kind: str) -> bool:
    """Read one file into the world; False when it is no evidence."""
    if kind == kinds.INTENT:
        world.notes.append(f"{evidence.file}: says what should run; `phalanx lint` reads it")
        return False
    if kind == kinds.UNKNOWN:
        world.notes.append(f"{evidence.file}: not a kind of evidence that is known here")
        return False
    if kind == "log":
        world.shown += logs.shown_in(evidence.file, evidence.text)
    else:
        _READERS[kind](world, evidence)
    return True


def _read_events(world: World, evidence: Evidence) -> None:
    every = looks(evidence, True)
    world.seen += every
    world.jobs += jobs_of(evidence)
    world.hosts.update(instances_of(evidence))
    world.spot |= spot_warnings(evidence)
    world.findings += of_deliveries(every)


def _read_tasks(world: World, evidence: Evidence) -> None:
    world.seen += looks(evidence, False)
    world.jobs += jobs_of(evidence)
    world.findings += of_failures(evidence)


def _read_instances(world: World, evidence: Evidence) -> None:
    world.hosts.update(instances_of(evidence))
    world.findings += capacity.of_instances(evidence)


def _read_activities(world: World, evidence: Evidence) -> None:
    world.findings += capacity.of_activities(evidence, world.quotas)


def _read_service(world: World, evidence: Evidence) -> None:
    world.findings += capacity.of_service_events(evidence)


def _read_batch(world: World, evidence: Evidence) -> None:
    found, decisions, findings = batch.explain_batch(evidence)
    world.views += found
    world.decisions += decisions
    world.findings += findings


def _read_listing(world: World, evidence: Evidence) -> None:
    resume, findings = explain_listing(evidence)
    world.resumes.append(resume)
    world.findings += findings


def _read_situation(world: World, evidence: Evidence) -> None:
    reader = of_plan if is_plan(evidence.value) else of_incident
    world.findings += reader(evidence)


def _read_job(world: World, evidence: Evidence) -> None:
    world.jobs += jobs_of(evidence)


_READERS: dict[str, Callable[[World, Evidence], None]] = {
    kinds.DELIVERIES: _read_events,
    kinds.TASKS: _read_tasks,
    kinds.INSTANCES: _read_instances,
    kinds.ACTIVITIES: _read_activities,
    kinds.SERVICE_EVENTS: _read_service,
    kinds.BATCH: _read_batch,
    kinds.LISTING: _read_listing,
    kinds.SITUATION: _read_situation,
    kinds.JOB_ONLY: _read_job,
}


def _settle_tasks(world: World) -> None:
    """Decide about every job whose tasks the evidence knows."""
    tasks = gather(world.seen)
    spot = frozenset(world.spot)
    placed = {t.arn: _host_of(t, world.hosts) for t in tasks}
    owned: set[str] = set()
    pairs = [(job, members(job, tasks, spot)) for job in world.jobs]
    if not world.jobs:
        pairs = [(job, members(job, group, spot)) for job, group in implied_jobs(tasks)]
    for job, ended in pairs:
        ended = [_on_spot(e, placed.get(e.task.arn, ""), spot) for e in ended]
        owned |= {e.task.arn for e in ended}
        decision = decide(job, ended)
        world.decisions.append(decision)
        world.views += views(job.id, ended, decision)
        world.findings += of_tasks(ended)
    strays = [t for t in tasks if t.arn not in owned]
    alone = [Ended(t, ending_of(t, False, spot) if t.stopped else None) for t in strays]
    world.views += views("", alone, None) if not world.jobs else []
    world.findings += of_tasks(alone) if not world.jobs else of_strays(strays)


def _host_of(task: TaskFacts, hosts: dict[str, str]) -> str:
    return hosts.get(text(task.detail.get("containerInstanceArn")), "")


def _on_spot(e: Ended, host: str, spot: frozenset[str]) -> Ended:
    """A host that had its Spot warning is a Spot interruption, whatever the stop says of it."""
    if e.ending is None or host not in spot or e.failure is None:
        return e
    if e.failure.value not in ("HostLost", "Unknown"):
        return e
    task = replace(e.task.seen, detail={**e.task.detail, "stopCode": "SpotInterruption"})
    return replace(e, ending=ending_of(replace(e.task, seen=task), False))


def _job_folder(world: World, base: str, record: str, rest: list[Input]) -> list[Input]:
    """Explain one job of ours; what is left are the files that it did not take."""
    inside = {given.file: given.data for given in rest if given.file.startswith(base)}
    try:
        answer = folder.explain_job(record, inside)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        said = " ".join(str(error).split())[:200]
        raise InputError(f"{record}: is not a job's record: {said}") from None
    world.views += answer.views
    world.decisions.append(answer.decision)
    world.findings += answer.findings
    return [
        given
        for given in rest
        if given.file not in inside or folder.is_log(base, given.file, answer.attempt)
    ]


def _nothing(read: Iterable[tuple[Evidence, str]]) -> InputError:
    for evidence, kind in read:
        if kind == kinds.INTENT:
            return InputError(
                f"{evidence.file}: says what should run, and `explain` reads what happened",
                hint="`phalanx lint` reads this file",
            )
        return InputError(
            f"{evidence.file}: is no evidence that `explain` knows",
            hint=f"it reads {kinds.READS}",
        )
    return InputError("there is nothing to read", hint=f"`explain` reads {kinds.READS}")


def _answer(world: World, files: int) -> Explanation:
    """Put together: one root cause keeps one finding, and jobs learn where to resume."""
    slugs = {finding.slug for finding in world.findings}
    rules = {finding.rule for finding in world.findings}
    findings = [f for f in world.findings if not _explained(f, slugs, rules)]
    findings.sort(key=lambda f: (_SEVERITY.index(f.severity), f.file, f.line, f.column, f.rule))
    decisions = world.decisions
    if len(world.resumes) == 1:
        start = world.resumes[0].start
        decisions = [replace(d, resume_from=start or d.resume_from) for d in decisions]
    return Explanation(
        files,
        tuple(findings),
        tuple(world.views),
        tuple(decisions),
        tuple(world.resumes),
        tuple(world.notes),
    )


_ROOTS = frozenset(
    {
        "instance-registered-without-gpu",
        "spot-quota-zero",
        "spot-quota-exceeded",
        "on-demand-quota-exceeded",
        "instance-capacity-unavailable",
        "instance-launch-refused",
    }
)


def _explained(finding: Finding, slugs: set[str], rules: set[str]) -> bool:
    """Whether another finding is the root of this one, or tells it better."""
    if finding.rule == CAUSE.id and folder.CAUSE.id in rules:
        return True  # the agents saw the ends themselves; logs only guess at them
    return finding.slug == capacity.NOT_PLACED.slug and bool(_ROOTS & slugs)
