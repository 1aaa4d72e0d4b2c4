"""A Batch job on Spot that nothing repeats when its host is lost."""

from __future__ import annotations

from fnmatch import fnmatchcase

from phalanx.lint.infra import ComputeEnvironment, JobQueue
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.workload import JobDefinition, says_spot
from phalanx.lint.world import World

_LOST = "Host EC2 (instance i-0123456789abcdef0) terminated."


@rule(
    id="SPT002",
    slug="spot-no-host-retry",
    severity="warning",
    areas=("spot",),
    on=JobDefinition,
    message="A Batch job on Spot is not repeated when its host is lost",
    why="A reclaimed host leaves no exit code: only the status reason says that it is gone. One "
    "attempt, or a rule that ends the job for every other reason, ends it as failed.",
    fix='Set attempts to 3-5 and evaluateOnExit: onStatusReason "Host EC2*" RETRY, then onReason '
    '"*" EXIT so that faults of the code do not loop; resume from a checkpoint.',
    sources=(
        ("https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html", "undated"),
        ("https://github.com/nextflow-io/nextflow/issues/4096", "undated"),
    ),
    guards=("GR6",),
    facts=("TRN-58",),
)
def spot_no_host_retry(job: JobDefinition, world: World) -> Found:
    """No second attempt, or rules that end the job before a lost host is repeated."""
    if not (job.is_spot or _all_spot(job, world)) or "FARGATE" in job.launch_types:
        return
    attempts = job.number("retryStrategy.attempts")
    if attempts is None and job.has("retryStrategy.attempts"):
        return
    if (attempts or 1) < 2 or not _repeats(job):
        yield Hit(job, "retryStrategy")


def _all_spot(job: JobDefinition, world: World) -> bool:
    kinds = [e.text("computeResources.type") for e in world.near(job, ComputeEnvironment)]
    if kinds:
        return all(kind == "SPOT" for kind in kinds)
    queues = [queue.name or "" for queue in world.near(job, JobQueue)]
    return bool(queues) and all(map(says_spot, queues))


def _repeats(job: JobDefinition) -> bool:
    for rule_ in job.items("retryStrategy.evaluateOnExit"):
        if rule_.text("onExitCode") not in (None, "*"):
            continue
        pattern = rule_.text("onStatusReason")
        reason = rule_.text("onReason")
        if pattern is not None and not fnmatchcase(_LOST, pattern):
            continue
        if reason not in (None, "*") and pattern is None:
            continue
        return (rule_.text("action") or "").upper() == "RETRY"
    return True
