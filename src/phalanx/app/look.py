"""One look at a job's live objects, for people: cheap, never the base of a decision."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from phalanx.app.jobs import Job
from phalanx.names import Keys, split_checkpoint_name
from phalanx.state.codec import loads
from phalanx.state.gang import Beat, End, Head, Member, PassedOver, World
from phalanx.state.observed import SeenBeat
from phalanx.state.record import PastAttempt, Record, Seat
from phalanx.words import Phase

T = TypeVar("T")

WAITS_NS = 10 * 10**9
"""Beats come every second; what an older one says may be over."""


@dataclass(frozen=True)
class Look:
    """What the current attempt's objects say."""

    job: Job
    head: Head | None
    world: World | None
    members: tuple[Member, ...]
    beats: tuple[SeenBeat, ...]
    ends: tuple[End, ...]
    passed_over: PassedOver | None = None
    """Checkpoints that could not be read when the world was agreed on."""

    @property
    def record(self) -> Record:
        """The job's record."""
        return self.job.record

    @property
    def step(self) -> int:
        """Steps done, as far as anybody said; the restored or committed step before the first."""
        said = [s.beat.step for s in self.beats] + [end.step for end in self.ends]
        if self.world is not None:
            said.append(self.world.checkpoint_step)
        if any(said):
            return max(said)
        return self.head_step

    @property
    def head_step(self) -> int:
        """Step of the newest committed checkpoint; 0 when there is none."""
        return step_of(self.head.checkpoint if self.head else None)

    @property
    def total_steps(self) -> int | None:
        """Steps of the whole job, when somebody said how many."""
        said = [s.beat.total_steps for s in self.beats if s.beat.total_steps]
        return said[0] if said else self.record.plan.total_steps

    @property
    def eta_s(self) -> int | None:
        """Seconds to the last step at the present pace; None when that is not known."""
        paces = [s.beat.step_time_ns for s in self.beats if s.beat.step_time_ns > 0]
        if not paces or not self.total_steps or self.record.phase.value != "Running":
            return None
        return max(0, self.total_steps - self.step) * max(paces) // 1_000_000_000

    @property
    def waits(self) -> tuple[str, ...]:
        """What agents wait for beside their ranks, as they last said."""
        fresh = [seen.beat for seen in self.beats if seen.age_ns < WAITS_NS]
        is_over = self.record.phase.is_terminal or self.record.phase is Phase.PAUSED
        ended = {(end.slot, end.incarnation) for end in self.ends}
        alive = [] if is_over else [b for b in fresh if (b.slot, b.incarnation) not in ended]
        return tuple(beat.waits for beat in alive if beat.waits)

    def beat(self, seat: Seat) -> SeenBeat | None:
        """The beat of a seat's incarnation."""
        mine = [s for s in self.beats if s.beat.slot == seat.slot]
        return mine[0] if mine else None

    def member(self, seat: Seat) -> Member | None:
        """The member of a seat's incarnation."""
        mine = [m for m in self.members if m.slot == seat.slot]
        return mine[0] if mine else None


def step_of(checkpoint: str | None) -> int:
    """Step of a checkpoint by its name; 0 for None."""
    split = split_checkpoint_name(checkpoint) if checkpoint else None
    return split[0] if split else 0


def is_gone(member: Member) -> bool:
    """Whether the process table of this host proves that an agent is dead."""
    if member.pid <= 0 or member.host != os.uname().nodename:
        return False
    try:
        os.kill(member.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def look(job: Job) -> Look:
    """Read what the seated incarnations of the current attempt wrote."""
    keys, record = job.keys, job.record
    seats = [(record.attempt, seat.slot, seat.incarnation) for seat in record.seats]
    world = read(job, World, keys.world(record.attempt))
    told = read(job, PassedOver, keys.passed_over(record.attempt)) if world is not None else None
    return Look(
        job=job,
        head=read(job, Head, keys.head),
        world=world,
        members=_all(read(job, Member, keys.member(*seat)) for seat in seats),
        beats=_all(seen_beat(job, keys, *seat) for seat in seats),
        ends=_all(read(job, End, keys.end(*seat)) for seat in seats),
        passed_over=told,
    )


def _all(items: Iterable[T | None]) -> tuple[T, ...]:
    return tuple(item for item in items if item is not None)


def read(job: Job, kind: type[T], key: str) -> T | None:
    """One object; None when it is not there or cannot be understood."""
    found = job.root.store.read(key)
    try:
        return loads(kind, found.data) if found else None
    except ValueError:
        return None


def resumed_from(job: Job, past: PastAttempt) -> str | None:
    """The checkpoint that the attempt after `past` really began from.

    Its world names it: a checkpoint that could not be read has given way to its parent by then.
    """
    world = read(job, World, job.keys.world(past.attempt + 1))
    return world.checkpoint if world is not None else past.resumed_from


def seen_beat(job: Job, keys: Keys, attempt: int, slot: int, incarnation: int) -> SeenBeat | None:
    """The beat of one incarnation in one attempt, and its age."""
    pulse = job.root.store.pulse(keys.beat(attempt, slot, incarnation))
    try:
        return SeenBeat(loads(Beat, pulse[0]), pulse[1]) if pulse else None
    except ValueError:
        return None
