"""The backend port over the simulated cloud, as one controller sees it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from phalanx import names
from phalanx.backends.base import Request
from phalanx.clock import SECOND_NS
from phalanx.errors import LaunchRefused, NoCapacity, Throttled
from phalanx.plan.job import JobPlan
from phalanx.sim.cloud import Cloud, SimTask
from phalanx.state import codec
from phalanx.state.observed import ObservedTask
from phalanx.state.record import Seat


@dataclass
class Mood:
    """A spell: throttled, no_capacity, refused, partial, ghost, late or short."""

    kind: str
    until_ns: int
    chance: float
    size: float = 0.0
    """Seconds by which a late request is late, or that a task lives at most in a short spell."""
    slots: frozenset[int] | None = None
    """None: everybody's launches."""


@dataclass
class Moods:
    """All spells; each lasts until its time."""

    cloud: Cloud
    rng: random.Random
    spells: list[Mood] = field(default_factory=list)

    def spell(
        self,
        kind: str,
        seconds: float,
        chance: float,
        size: float = 0.0,
        slots: frozenset[int] | None = None,
    ) -> None:
        """Begin a spell."""
        until_ns = self.cloud.loop.now_ns + int(seconds * SECOND_NS)
        self.spells.append(Mood(kind, until_ns, chance, size, slots))

    def hit(self, *kinds: str, slot: int | None = None) -> Mood | None:
        """The spell of one of these kinds that strikes now, at a slot's launch if one is named."""
        if not self.spells:
            return None
        now_ns = self.cloud.loop.now_ns
        self.spells = [s for s in self.spells if s.until_ns > now_ns]
        for spell in self.spells:
            if spell.slots is not None and slot not in spell.slots:
                continue
            if spell.kind in kinds and self.rng.random() < spell.chance:
                return spell
        return None


class SimBackend:
    """`Backend` with eventual consistency, partial and ghost launches, late requests."""

    def __init__(
        self, cloud: Cloud, moods: Moods, on_launch: Callable[[Request], None] | None = None
    ) -> None:
        self.cloud = cloud
        self.moods = moods
        self.on_launch = on_launch
        self.kept: tuple[ObservedTask, ...] | None = None
        """An answer that was given a while ago and is only now being looked at."""

    def render(self, job: str, plan: JobPlan, seat: Seat) -> Request:
        """The launch of one seat."""
        token = names.token(job, seat.slot, seat.incarnation, seat.tries)
        body = codec.dumps({"count": 1, "slot": seat.slot, "ranks": plan.ranks_per_node}).decode()
        return Request(job, seat.slot, seat.incarnation, seat.tries, token, body)

    def launch(self, request: Request) -> None:
        """Accepted, refused, or a lie in either direction."""
        if self.on_launch is not None:
            self.on_launch(request)
        if self.moods.hit("throttled"):
            raise Throttled("rate exceeded")
        if self.moods.hit("no_capacity", slot=request.slot):
            raise NoCapacity("no instance has room")
        if self.moods.hit("refused", slot=request.slot):
            raise LaunchRefused("the machine has no device left for it")
        if self.moods.hit("partial", slot=request.slot):
            return  # said yes, and nothing comes of it
        late = self.moods.hit("late")
        if late is not None:
            self.cloud.loop.after(self.moods.rng.uniform(0, late.size), self._submit, request)
            raise Throttled("no answer")
        ghost = self.moods.hit("ghost") is not None
        task = self.cloud.submit(request)
        short = self.moods.hit("short", slot=request.slot) if task is not None else None
        if short is not None and task is not None:
            life_s = self.moods.rng.uniform(1.0, short.size)
            self.cloud.loop.after(life_s, self._end_early, task)
        if not ghost:
            return
        if task is not None and self.moods.rng.random() < 0.5:
            self.cloud.end(task, None, "could not be started", self.moods.rng.uniform(0, 60))
            return
        raise Throttled("the answer was lost")

    def _end_early(self, task: SimTask) -> None:
        self.cloud.end(task, 137, "killed early", self.moods.rng.uniform(0, 10))

    def observe(self, job: str) -> tuple[ObservedTask, ...]:
        """What the control plane shows."""
        if self.kept is not None:
            kept, self.kept = self.kept, None
            return kept
        if self.moods.hit("throttled"):
            raise Throttled("rate exceeded")
        return self.cloud.tell()

    def stop(self, task: ObservedTask, reason: str, grace_s: float) -> None:
        """Ask; a host that cannot be reached hears it later."""
        if self.moods.hit("throttled"):
            raise Throttled("rate exceeded")
        self.cloud.stop(task.id, grace_s)

    def leftovers(self, job: str, alive: Sequence[str]) -> tuple[str, ...]:
        """Nothing lives outside its task here."""
        return ()

    def clean(self, job: str, leftovers: Sequence[str]) -> None:
        """Nothing to remove."""

    def _submit(self, request: Request) -> None:
        self.cloud.submit(request)
