"""What a person can do once a job has ended: by its reason, its cause, and what is saved of it."""

from __future__ import annotations

from phalanx.state.record import Record
from phalanx.verdict.advice import advice
from phalanx.words import FailureClass, Phase

_LIMITS = {
    "MaxRuntime": "raise `limits.max_runtime` in the job file and run it again",
    "MaxInstanceHours": "raise `limits.max_instance_hours` in the job file and run it again",
    "MaxWaiting": (
        "find out why the slots did not come up, or raise `limits.max_waiting`, and run the job"
        " again"
    ),
}
"""Nothing broke in these: what stands in the way is named in the job file."""

_PERSON = {
    FailureClass.HOST_LOST: (
        "Look whether one type, zone or machine loses hosts again and again; a restart rule may"
        " allow more of them."
    ),
    FailureClass.NO_PROGRESS: "Read the first causes in the history, and fix that one.",
    FailureClass.STOPPED_BY_US: "",
    FailureClass.SUPERSEDED: "",
    FailureClass.RESIZED: "",
    FailureClass.STOPPED_BY_USER: "Find out who or what stopped it: phalanx was not asked to.",
}
"""Where the advice is for a job that goes on, and would contradict one that has ended for good."""

_UNSURE = (FailureClass.CHECKPOINT_UNREADABLE, FailureClass.SOURCE_DAMAGED)
"""What is committed may be damaged too: nobody is told to go on from it unseen."""


def afterwards(record: Record, step: int) -> str:
    """The next action for a job in a final phase; `step` is that of its newest checkpoint, or 0."""
    if record.phase is Phase.SUCCEEDED:
        return "none: the job has succeeded"
    going_on = _going_on(record, step)
    if record.phase is Phase.STOPPED:
        return f"none: the job was stopped{going_on}"
    if record.reason in _LIMITS:
        return f"none: {_LIMITS[record.reason]}{going_on or '; nothing is saved'}"
    text = f"none: mend the cause and run the job again{going_on}"
    said = _for_the_person(record)
    return f"{text}. {said}" if said else text


def _going_on(record: Record, step: int) -> str:
    failure = record.cause.failure if record.cause else None
    if step <= 0 or failure in _UNSURE:
        return ""
    if step >= (record.plan.total_steps or step + 1):
        return f"; step {step}, the last one, is saved"
    if record.plan.checkpoint.mode == "watch":
        how = f"`phalanx checkpoints restore {record.job} --to FOLDER` writes its files out"
        return f"; step {step} is saved: {how}"
    return (
        f"; `init_from: {{job: {record.job}, take: all}}` goes on from step {step}, which is saved"
    )


def _for_the_person(record: Record) -> str:
    if record.cause is None:
        return ""
    # The reason knows better where a budget of attempts ended the job, whatever the last cause.
    is_class = record.reason in {failure.value for failure in FailureClass}
    failure = FailureClass(record.reason) if is_class else record.cause.failure
    return _PERSON.get(failure, advice(failure).person)
