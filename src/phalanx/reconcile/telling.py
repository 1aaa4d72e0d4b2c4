"""Which messages a job owes to its receivers, from its record alone.

Every controller finds the same messages under the same names at whatever time it looks, so that
whoever claims a name first sends it, and nobody else.
"""

from __future__ import annotations

from collections.abc import Iterator

from phalanx.clock import SECOND_NS
from phalanx.plan.job import Receiver
from phalanx.state.messages import Message
from phalanx.state.record import Record
from phalanx.words import FailureClass, Phase


def due(record: Record, *, has_world: bool, now_ns: int) -> tuple[Message, ...]:
    """All messages that are owed by now, also those that were sent long ago."""
    found: list[Message] = []
    for number, receiver in enumerate(record.plan.notify):
        found += _ended(record, number, receiver)
        found += _restarted(record, number, receiver)
        found += _limits(record, number, receiver, now_ns)
        if not has_world:
            found += _waiting(record, number, receiver, now_ns)
    return tuple(found)


def _ended(record: Record, number: int, receiver: Receiver) -> Iterator[Message]:
    """The end of a job is one event: `failed` when it failed, else `ended`."""
    failed = record.phase is Phase.FAILED
    if not record.phase.is_terminal:
        return
    if "ended" in receiver.on or (failed and "failed" in receiver.on):
        event = "failed" if failed else "ended"
        yield _of(record, f"ended-{number}", number, event, record.ended_ns or record.since_ns)


def _restarted(record: Record, number: int, receiver: Receiver) -> Iterator[Message]:
    """An attempt that ended and was followed by another, pauses left out."""
    if "restarted" not in receiver.on:
        return
    for past in record.history:
        cause = past.cause
        if past.attempt < record.attempt and cause.failure is not FailureClass.STOPPED_BY_USER:
            attempt = past.attempt + 1
            yield Message(
                name=f"restarted-{attempt}-{number}",
                receiver=number,
                event="restarted",
                phase=Phase.RESTARTING.value,
                reason=cause.failure.value,
                message=f"{cause.message}; attempt {attempt} follows",
                attempt=attempt,
                at_ns=past.ended_ns,
            )


def _limits(record: Record, number: int, receiver: Receiver, now_ns: int) -> Iterator[Message]:
    if "limit" not in receiver.on:
        return
    for limit in record.warned:
        yield Message(
            name=f"limit-{limit}-{number}",
            receiver=number,
            event="limit",
            phase=record.phase.value,
            reason="LimitNear",
            message=f"{limit} is nearly used up: the job ends when all of it is",
            attempt=record.attempt,
            at_ns=now_ns,
        )


def _waiting(record: Record, number: int, receiver: Receiver, now_ns: int) -> Iterator[Message]:
    """Once for each time without a world, however many attempts it takes."""
    if "waiting" not in receiver.on or record.ending is not None or record.phase.is_terminal:
        return
    since_ns = record.waiting_since_ns if record.waiting_since_ns is not None else record.created_ns
    at_ns = since_ns + int(receiver.waiting_s * SECOND_NS)
    if now_ns >= at_ns:
        yield _of(record, f"waiting-{since_ns}-{number}", number, "waiting", at_ns)


def _of(record: Record, name: str, number: int, event: str, at_ns: int) -> Message:
    return Message(
        name=name,
        receiver=number,
        event=event,
        phase=record.phase.value,
        reason=record.reason,
        message=record.message,
        attempt=record.attempt,
        at_ns=at_ns,
    )
