"""One world at work: a step is done when every rank can do it, and a save when its time comes."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from phalanx.sim.clock import Loop
from phalanx.state.gang import World

if TYPE_CHECKING:
    from phalanx.sim.ranks import RankGroup

from phalanx.sim import ranks as ranks_of


@dataclass
class Training:
    """The collective progress of one world."""

    loop: Loop
    rng: random.Random
    world: World
    total_steps: int
    step_s: float
    save_every: int
    hang_after_s: float = 300.0
    start_timeout_s: float = 1800.0
    step: float = 0.0
    groups: dict[int, RankGroup] = field(default_factory=dict)
    _since_s: float | None = None
    _ticket: int = 0

    def __post_init__(self) -> None:
        self.step = float(self.world.checkpoint_step)

    @property
    def next_save(self) -> int:
        """The step after which all ranks save next."""
        due = (int(self.step) // self.save_every + 1) * self.save_every
        return min(due, self.total_steps)

    def review(self, _: object) -> None:
        """Something changed: count what was done, and see whether it goes on."""
        if self._since_s is not None:
            done = (self.loop.now_s - self._since_s) / self.step_s
            self.step = min(self.step + done, float(self._due))
        self._since_s = None
        self._ticket += 1
        is_whole = len(self.groups) == len(self.world.members)
        is_done = self.step >= self.total_steps
        if is_whole and not is_done and all(g.can_step for g in self.groups.values()):
            self._since_s = self.loop.now_s
            self._due = self.next_save
            wait_s = max(0.0, (self._due - self.step) * self.step_s)
            self.loop.after(wait_s, self._milestone, self._ticket)
        elif not is_done:
            has_begun = self.step > self.world.checkpoint_step
            limit_s = self.hang_after_s if has_begun else self.start_timeout_s
            self.loop.after(limit_s, self._stands_still, self._ticket)

    def save_soon(self) -> None:
        """Somebody asks for a save: the next step that all ranks reach is it."""
        self.review(None)
        step = int(self.step) + 1
        if self._since_s is not None and step < self._due:
            self._due = step
            self._ticket += 1
            wait_s = max(0.0, (step - self.step) * self.step_s)
            self.loop.after(wait_s, self._milestone, self._ticket)

    def echo(self, origin: RankGroup) -> None:
        """Peers of a dead rank may fail in their collectives before anybody tells them to stop."""
        for group in self.groups.values():
            if group is not origin and self.rng.random() < 0.3:
                self.loop.after(self.rng.uniform(0.05, 5.0), _fail_by_echo, group)

    def _milestone(self, ticket: int) -> None:
        if ticket != self._ticket:
            return
        self.step = float(self._due)
        self._since_s = None
        for group in self.groups.values():
            group.save(self._due)
        self.review(None)

    def _stands_still(self, ticket: int) -> None:
        if ticket != self._ticket:
            return
        self.loop.after(60.0, self._stands_still, ticket)
        for group in tuple(self.groups.values()):
            group.found_hanging()

    _due: int = 0


def _fail_by_echo(group: RankGroup) -> None:
    if group.is_frozen:
        return
    for rank in group.ranks[:1]:
        group.die(rank, 1, None, ranks_of.ECHO)
