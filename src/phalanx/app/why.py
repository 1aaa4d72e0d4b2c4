"""The answer of `why`: what happened, what was done about it, and what comes next."""

from __future__ import annotations

from phalanx.app.afterwards import afterwards
from phalanx.app.fallback import Fallback, fallbacks
from phalanx.app.look import Look, resumed_from, step_of
from phalanx.app.messages import seen_messages
from phalanx.app.notices import SeenNotice, last_save
from phalanx.app.parked import given_up
from phalanx.app.slow import slow_now
from phalanx.app.times import maybe, rfc3339
from phalanx.app.views import View, cause_view
from phalanx.clock import SECOND_NS
from phalanx.names import seat_name
from phalanx.state.record import Cause, PastAttempt, Record
from phalanx.words import FailureClass, Phase


def why_view(look: Look, notices: tuple[SeenNotice, ...] = ()) -> View:
    """`phalanx.why/1`. `done` are sentences, `next` is one action and the time that it waits for.

    `notices` are the departure notices of the attempt that ended last and of the present one.
    """
    record = look.record
    past = record.history[-1] if record.history else None
    cause = record.cause or (past.cause if past else None)
    passed = [one for one in fallbacks(look) if one.attempt >= record.attempt]
    return {
        "schema": "phalanx.why/1",
        "job": look.job.id,
        "phase": record.phase.value,
        "reason": record.reason,
        "message": record.message,
        "since": rfc3339(record.since_ns or record.created_ns),
        "first_cause": cause_view(cause) if cause else None,
        "evidence": _evidence(record, cause, past, notices)
        + [_passed_over(one) for one in passed]
        + [{"where": "beats", "says": waits, "at": None} for waits in look.waits]
        + _slow(look)
        + _untold(look)
        + given_up(record),
        "done": [{"says": says, "at": maybe(at_ns)} for says, at_ns in _done(look, past, notices)],
        "next": _next(record, _start_step(look, passed)),
    }


def _passed_over(fallback: Fallback) -> View:
    """A checkpoint that could not be read, and what that costs."""
    where = f"checkpoints/{fallback.unreadable[0][0]}"
    return {"where": where, "says": fallback.sentence(), "at": None}


def _start_step(look: Look, passed: list[Fallback]) -> int:
    """The step from which the next attempt begins, as far as it can be known now."""
    return passed[-1].start_step if passed and passed[-1].is_ahead else look.head_step


def _evidence(
    record: Record, cause: Cause | None, past: PastAttempt | None, notices: tuple[SeenNotice, ...]
) -> list[View]:
    at_ns = past.ended_ns if past else record.since_ns
    found = [
        {"where": where, "says": says, "at": maybe(at_ns)}
        for where, says in (cause.evidence if cause else ())
    ]
    found += [{"where": n.where, "says": n.says, "at": maybe(n.at_ns)} for n in notices]
    if record.warning:
        found.append({"where": "record.warning", "says": record.warning, "at": None})
    return found


def _untold(look: Look) -> list[View]:
    """Messages that did not arrive."""
    return [
        {"where": f"messages/{seen.name}", "says": seen.sentence(), "at": maybe(seen.sent.at_ns)}
        for seen in seen_messages(look.job)
        if seen.sent is not None and not seen.sent.is_sent
    ]


def _slow(look: Look) -> list[View]:
    """Ranks that the others wait for, by what the agents last said."""
    incarnations = {seat.slot: seat.incarnation for seat in look.record.seats}
    return [
        {
            "where": f"attempts/{look.record.attempt}/beats/"
            + seat_name(slow.slot, incarnations.get(slow.slot, 0)),
            "says": slow.words(),
            "at": None,
        }
        for slow in slow_now(look)
    ]


def _done(
    look: Look, past: PastAttempt | None, notices: tuple[SeenNotice, ...]
) -> list[tuple[str, int | None]]:
    """What was done about the newest first cause: sentences and their times."""
    record = look.record
    found: list[tuple[str, int | None]] = []
    if past is not None:
        found.append((f"attempt {past.attempt} was ended, its ranks stopped", past.ended_ns))
        if record.attempt > past.attempt:
            found += _opened(look, past)
    if record.stop is not None:
        how = _how(look, notices, "stop-save") if record.stop.save else ", without a last save"
        found.append((f"the job was asked to stop{how}", record.stop.at_ns))
    if record.pause is not None:
        how = _how(look, notices, "pause")
        found.append((f"the job was asked to pause{how}", record.pause.at_ns))
    if record.phase.is_terminal or record.phase is Phase.PAUSED:
        found.append(("every task was stopped", record.ended_ns))
    return found


def _how(look: Look, notices: tuple[SeenNotice, ...], source: str) -> str:
    """What came of the last save that a request asked for."""
    record, head = look.record, look.head.checkpoint if look.head else None
    made = last_save(notices, source, record.attempt, head)
    is_over = record.phase.is_terminal or record.phase is Phase.PAUSED
    if made.saved:
        return f", after a last save ({made.saved})"
    if made.declined:
        return f"; the last save was declined: {made.declined}"
    return "; nothing tells of a last save" if is_over else ", after a last save if it can"


def _opened(look: Look, past: PastAttempt) -> list[tuple[str, int | None]]:
    record, name = look.record, resumed_from(look.job, past)
    at_ns, start = record.attempt_opened_ns, "the beginning"
    if name is not None:
        start = f"checkpoint {name} (step {step_of(name)})"
    counts = "counts" if past.counted else "does not count"
    found: list[tuple[str, int | None]] = [
        (f"attempt {record.attempt} was opened from {start}; it {counts} as a restart", at_ns)
    ]
    # A survivor keeps the time at which its task was launched.
    moved = [s for s in record.seats if s.launched_ns is None or s.launched_ns > past.ended_ns]
    found += [
        (f"slot {seat.slot} was given a new task (incarnation {seat.incarnation})", at_ns)
        for seat in moved
    ]
    return found


def _next(record: Record, start_step: int) -> View:
    action, at_ns = _NEXT.get(record.phase, ""), None
    if record.phase.is_terminal:
        action = afterwards(record, start_step)
    elif record.phase is Phase.PAUSED:
        action = f"none before `phalanx resume {record.job}`; then on from step {start_step}"
        if record.pause is None:
            action = f"open attempt {record.attempt + 1} from step {start_step}"
    elif record.ending is not None:
        action = f"stop every task, then {record.ending.value}"
    elif record.backoff_until_ns is not None:
        at_ns = record.backoff_until_ns
        action = f"open attempt {record.attempt + 1} from step {start_step}"
    elif record.reason == FailureClass.STORE_UNREACHABLE.value:
        at_ns = record.attempt_opened_ns + int(record.plan.start_timeout_s * SECOND_NS)
        action = "go on when the slots give signs again; else replace them"
    elif record.phase is Phase.RESTARTING:
        action = f"start attempt {record.attempt} from step {start_step}"
    elif record.phase is Phase.RUNNING:
        action += f"; a restart would go on from step {start_step}"
        if record.growing is not None:
            action = "take the slots in that are ready, at the next commit"
    return {"action": action, "at": maybe(at_ns)}


_NEXT = {
    Phase.PENDING: "a controller takes the job up",
    Phase.STARTING: "the tasks join and the first step is run",
    Phase.RUNNING: "none: the job runs",
    Phase.STOPPING: "stop every task",
}
