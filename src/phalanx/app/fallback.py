"""Checkpoints that could not be read: from what the job went on instead, and what that costs."""

from __future__ import annotations

from typing import Any

from phalanx.app.jobs import Job
from phalanx.app.look import Look, read, step_of
from phalanx.errors import StoreError
from phalanx.frozen import frozen
from phalanx.names import split_checkpoint_name
from phalanx.state.gang import Head, PassedOver, World
from phalanx.state.record import Record
from phalanx.words import FailureClass, Phase


@frozen
class Fallback:
    """One attempt that did not, or will not, begin from the newest committed checkpoint."""

    attempt: int
    unreadable: tuple[tuple[str, str], ...]
    """(checkpoint, because), newest first."""
    start: str | None
    """The checkpoint it began from instead; None when none was left."""
    start_step: int
    is_ahead: bool = False
    """Whether the attempt has not begun yet."""

    @property
    def steps_lost(self) -> int:
        """Steps that were committed and are done again."""
        return max(0, step_of(self.unreadable[0][0]) - self.start_step)

    def sentence(self) -> str:
        """Which could not be read and why, where the job went on, what is done again."""
        names = ", ".join(f"{name} ({because})" for name, because in self.unreadable)
        word = "checkpoint" if len(self.unreadable) == 1 else "checkpoints"
        could, goes = ("cannot", "goes") if self.is_ahead else ("could not", "went")
        start = f"step {self.start_step} ({self.start})" if self.start else "the beginning"
        steps = "1 step is" if self.steps_lost == 1 else f"{self.steps_lost} steps are"
        return (
            f"{word} {names} {could} be read; attempt {self.attempt} {goes} on from {start},"
            f" {steps} done again"
        )

    def view(self) -> dict[str, Any]:
        """As `--json` shows it."""
        return {
            "attempt": self.attempt,
            "unreadable": [{"checkpoint": n, "because": because} for n, because in self.unreadable],
            "resumed_from": self.start,
            "resumed_from_step": self.start_step,
            "steps_lost": self.steps_lost,
            "message": self.sentence(),
        }


def fallbacks(look: Look) -> tuple[Fallback, ...]:
    """All of a job, oldest first; the last may be of the attempt that comes next."""
    record = look.record
    opened = sorted({past.attempt + 1 for past in record.history if past.attempt < record.attempt})
    found = [one for a in opened if (one := fallback_of(look.job, look.head, a)) is not None]
    coming = ahead(look.job, look.head, look.world)
    return (*found, coming) if coming is not None else tuple(found)


def fallback_of(job: Job, head: Head | None, attempt: int) -> Fallback | None:
    """That of an attempt which has chosen its checkpoint; None when it began from the newest."""
    told = read(job, PassedOver, job.keys.passed_over(attempt))
    if told is None:
        return None
    world = read(job, World, job.keys.world(attempt))
    if world is not None:
        return in_world(job.record, told, world)
    if head is None or head.attempt != attempt:
        return None
    start = World(attempt, (), head.checkpoint, _step(job.record, head.checkpoint))
    return in_world(job.record, told, start)


def in_world(record: Record, told: PassedOver | None, world: World | None) -> Fallback | None:
    """What `told` says of the world's attempt; None when nothing."""
    if told is None or world is None:
        return None
    # HEAD may have moved between the look that was written down and the choice.
    newer = tuple(
        (name, _because(record, name, why))
        for name, why in told.checkpoints
        if _is_newer(name, world.checkpoint)
    )
    if not newer:
        return None
    return Fallback(world.attempt, newer, world.checkpoint, world.checkpoint_step)


def ahead(job: Job, head: Head | None, world: World | None = None) -> Fallback | None:
    """What would be passed over if the next attempt chose now; manifests are read, no shard is."""
    record = job.record
    is_pausing = record.ending is Phase.PAUSED
    attempt = record.attempt + int(is_pausing)
    is_over = record.phase.is_terminal or record.stop is not None
    is_begun = world is not None and not is_pausing
    if is_over or is_begun or head is None or head.checkpoint is None or head.attempt >= attempt:
        return None
    from phalanx.checkpoint.find import choose

    try:
        choice = choose(job.root.store, job.keys, head, record.unreadable)
    except StoreError:
        return None
    told = tuple((name, _because(record, name, why)) for name, why in choice.refused)
    if not told:
        return None
    step = _step(record, choice.name)
    return Fallback(attempt, told, choice.name, step, is_ahead=True)


def _step(record: Record, name: str | None) -> int:
    origin = record.plan.init_from
    return step_of(name) if name or origin is None else origin.first_step


def _is_newer(name: str, start: str | None) -> bool:
    """Of (step, attempt) pairs the attempt counts first, as in the commit."""
    this, other = split_checkpoint_name(name), split_checkpoint_name(start) if start else None
    return this is not None and (other is None or this[::-1] > other[::-1])


def _because(record: Record, name: str, because: str) -> str:
    """The reader's own words, where a rank or the agent could not read it."""
    from phalanx.checkpoint.find import BY_A_RANK

    if because != BY_A_RANK:
        return because
    start = f"checkpoint {name}: "
    for past in reversed(record.history):
        cause = past.cause
        if cause.failure is FailureClass.CHECKPOINT_UNREADABLE and start in cause.message:
            return cause.message.partition(start)[2]
    return because
