"""What is worth telling once while a job is followed: the difference of two looks, in words."""

from __future__ import annotations

from phalanx.app.fallback import in_world
from phalanx.app.look import Look, step_of
from phalanx.app.slow import slow_now
from phalanx.state.record import PastAttempt, Record
from phalanx.words import Phase


def events(before: Look | None, after: Look) -> list[str]:
    """Lines for what happened between two looks, in the order in which it matters."""
    record = after.record
    old = before.record if before else None
    told = len(old.history) if old else 0
    ended = record.history[told:]
    is_new_world = before is None or before.world is None or record.attempt > before.record.attempt
    world = _world(after) if after.world is not None and is_new_world else []
    # The last attempt of a job stays the present one: its world was there before it ended.
    is_over = any(past.attempt == record.attempt for past in ended)
    lines = [*(world if is_over else []), *map(_ended, ended)]
    if old is not None and record.attempt > old.attempt:
        lines += _opened(old, record)
    head = after.head.checkpoint if after.head else None
    old_head = before.head.checkpoint if before and before.head else None
    if before is not None and head is not None and head != old_head:
        lines.append(f"checkpoint of step {step_of(head)} is committed")
    lines += [] if is_over else world
    was_slow = {slow.rank for slow in slow_now(before)} if before else set()
    lines += [slow.words() for slow in slow_now(after) if slow.rank not in was_slow]
    lines += _waits(before, after)
    if record.warning and (old is None or old.warning != record.warning):
        lines.append(f"warning: {record.warning}")
    return lines + _state(old, record)


def _waits(before: Look | None, after: Look) -> list[str]:
    """What is waited for beside the ranks: once, however far it has come."""
    told = {waits.partition(":")[0] for waits in before.waits} if before else set()
    return [f"waiting: {w}" for w in after.waits if w.partition(":")[0] not in told]


def _state(old: Record | None, record: Record) -> list[str]:
    """Phases and reasons in which nothing else would tell people what is going on."""
    is_new = old is None or (old.phase, old.reason) != (record.phase, record.reason)
    if is_new and record.phase in (Phase.PENDING, Phase.STOPPING, Phase.PAUSED):
        return [f"{record.phase.value}: {record.message}"]
    if is_new and record.reason == "BackingOff":
        return [f"waiting: {record.message}"]
    return []


def _ended(past: PastAttempt) -> str:
    return f"attempt {past.attempt} ended: {past.cause.failure.value}: {past.cause.message}"


def _opened(old: Record, record: Record) -> list[str]:
    step = step_of(record.head_at_open)
    start = f"step {step}" if step else "the beginning"
    replaced = [
        seat.slot
        for seat, was in zip(record.seats, old.seats, strict=False)
        if seat.incarnation != was.incarnation
    ]
    words = ", ".join(str(slot) for slot in replaced)
    note = f"; slot {words} gets a new task" if replaced else "; all tasks stay"
    return [f"attempt {record.attempt} restarts from {start}{note}"]


def _beginning(record: Record) -> str:
    origin = record.plan.init_from
    return origin.words() if origin is not None else "the beginning"


def _world(look: Look) -> list[str]:
    assert look.world is not None
    world = look.world
    fallback = in_world(look.record, look.passed_over, world)
    start = f"step {world.checkpoint_step}" if world.checkpoint else _beginning(look.record)
    ranks = "1 rank agreed" if world.size == 1 else f"{world.size} ranks agreed"
    agreed = f"attempt {world.attempt}: {ranks} to go on from {start}"
    return [agreed] if fallback is None else [fallback.sentence(), agreed]
