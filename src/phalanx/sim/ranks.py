"""Rank processes of one slot: they start, write parts, end by themselves or when told to."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from phalanx.agent.protocol import Ranks
from phalanx.checkpoint.manifest import Part
from phalanx.clock import SECOND_NS
from phalanx.errors import StoreError
from phalanx.names import checkpoint_name
from phalanx.sim.clock import Loop
from phalanx.state import codec
from phalanx.state.gang import End, RankEnd
from phalanx.words import FailureClass, Outcome

if TYPE_CHECKING:
    from phalanx.sim.agent import SimAgent
    from phalanx.sim.training import Training

COMMIT_WAIT_S = 600.0
"""How long a rank waits for the commit of the last checkpoint."""
ECHO = "RuntimeError: Connection closed by peer"


@dataclass
class SimRank:
    """One rank process."""

    local_rank: int
    rank: int
    is_alive: bool = True
    is_told: bool = False
    exit_code: int | None = None
    signal: int | None = None
    error: str = ""
    order: int = 0
    after_ns: int = 0

    def end(self, stuck: str, step: int) -> RankEnd:
        """As its agent tells it."""
        return RankEnd(
            rank=self.rank,
            local_rank=self.local_rank,
            pid=1000 + self.rank,
            exit_code=self.exit_code,
            signal=self.signal,
            error=self.error,
            told_to_stop=self.is_told,
            after_ns=self.after_ns,
            order=self.order,
            stuck=stuck,
            step=step,
        )


class RankGroup:
    """The ranks of one agent in one attempt."""

    def __init__(self, agent: SimAgent, training: Training, rng: random.Random) -> None:
        self.agent = agent
        self.training = training
        self.rng = rng
        world, plan = training.world, agent.scene.plan
        first = world.first_rank(agent.me.slot)
        self.ranks = [SimRank(n, first + n) for n in range(plan.ranks_per_node)]
        self.is_ready = False
        self.is_stopping = False
        self.frozen_until_ns = 0
        self.hung_since_ns: int | None = None
        self.failure: FailureClass | None = None
        self.stuck = ""
        self.unreadable: str | None = None
        self.announced: set[int] = set()
        training.groups[agent.me.slot] = self
        self.loop.after(rng.uniform(0.05, 20.0), self._ready)

    @property
    def loop(self) -> Loop:
        """The event heap."""
        return self.agent.loop

    @property
    def state(self) -> Ranks:
        """As `Me.ranks` tells it."""
        if not any(rank.is_alive for rank in self.ranks):
            return Ranks.ENDED
        return Ranks.STOPPING if self.is_stopping else Ranks.RUNNING

    @property
    def is_frozen(self) -> bool:
        """Whether its processes are stopped right now."""
        return self.loop.now_ns < self.frozen_until_ns

    @property
    def can_step(self) -> bool:
        """Whether a collective of all ranks gets its answer from here."""
        is_held = self.is_frozen or self.hung_since_ns is not None
        return self.is_ready and not is_held and all(r.is_alive for r in self.ranks)

    def freeze(self, seconds: float) -> None:
        """SIGSTOP, and SIGCONT after so long."""
        until_ns = self.loop.now_ns + int(seconds * SECOND_NS)
        self.frozen_until_ns = max(self.frozen_until_ns, until_ns)
        self.training.review(None)
        self.loop.after(seconds + 0.001, self.training.review)

    def stop(self, why: str, grace_s: float) -> None:
        """Signal, grace, kill."""
        if self.is_stopping:
            return
        self.is_stopping = True
        for rank in self.ranks:
            rank.is_told = rank.is_told or rank.is_alive
        self.loop.after(self.rng.uniform(0.0, min(grace_s, 1.0)), self._terminate)
        self.loop.after(grace_s, self._kill)

    def vanish(self) -> None:
        """The agent is gone, and all ranks with it: nobody tells how."""
        for rank in self.ranks:
            rank.is_alive = False
        self.training.review(None)

    def die(self, rank: SimRank, exit_code: int | None, signal: int | None, error: str) -> None:
        """One rank's process ends."""
        if not rank.is_alive:
            return
        rank.is_alive = False
        rank.exit_code, rank.signal, rank.error = exit_code, signal, error
        rank.order = sum(not r.is_alive for r in self.ranks) - 1
        rank.after_ns = self.agent.monotonic_ns()
        self.training.review(None)
        if exit_code != 0 and not rank.is_told:
            self.training.echo(self)
        self.agent.wake(0.02)

    def settle(self) -> None:
        """A rank that ended badly takes its siblings along."""
        if any(not r.is_alive and r.exit_code != 0 for r in self.ranks):
            self.stop("a rank of this slot ended", 1.0)

    def hang(self) -> None:
        """No step any more, and no ear for signals."""
        if self.hung_since_ns is None:
            self.hung_since_ns = self.loop.now_ns
            self.training.review(None)

    def found_hanging(self) -> None:
        """This slot's agent sees no step within the limit: it notes where ranks stand, stops them.

        An agent that is frozen itself says nothing.
        """
        if self.state is not Ranks.RUNNING or self.agent.is_frozen or not self.agent.is_alive:
            return
        self.failure = FailureClass.HANG
        self.stuck = "collective"
        if self.is_frozen or self.hung_since_ns is not None:
            self.stuck = "stopped" if self.is_frozen else "code"
        self.stop("no step within the limit", 0.2)

    def save(self, step: int) -> None:
        """Every rank writes its part in the background."""
        for rank in self.ranks:
            if rank.is_alive:
                self.loop.after(self.rng.expovariate(1 / 4.0), self._write_part, (rank, step))

    def the_end(self) -> End:
        """What the agent writes once all ranks have ended."""
        me, attempt = self.agent.me, self.training.world.attempt
        return End(
            slot=me.slot,
            incarnation=me.incarnation,
            attempt=attempt,
            outcome=self._outcome(),
            ranks=tuple(r.end(self.stuck, int(self.training.step)) for r in self.ranks),
            failure=FailureClass.CHECKPOINT_UNREADABLE if self.unreadable else self.failure,
            checkpoint=self.unreadable,
            step=int(self.training.step),
            finished=len(self.announced) == len(self.ranks),
        )

    def _outcome(self) -> Outcome:
        if self.failure is not None or any(r.exit_code != 0 and not r.is_told for r in self.ranks):
            return Outcome.FAILED
        if self.is_stopping:
            return Outcome.STOPPED
        return Outcome.SUCCEEDED

    def _ready(self, _: object) -> None:
        if self.state is not Ranks.RUNNING:
            return
        checkpoint = self.training.world.checkpoint
        if checkpoint is not None and checkpoint in self.agent.scene.unreadable:
            self.unreadable = checkpoint
            self.die(self.ranks[0], 1, None, f"CheckpointUnreadable: {checkpoint}")
            return
        self.is_ready = True
        self.training.review(None)
        if self.training.world.checkpoint_step >= self.training.total_steps:
            for rank in self.ranks:
                self.announced.add(rank.rank)
                self.loop.after(self.rng.uniform(0.1, 3.0), self._finish, rank)

    def _terminate(self, _: object) -> None:
        if self.is_frozen or self.hung_since_ns is not None or self.rng.random() < 0.1:
            return  # it does not listen; the kill follows
        for rank in self.ranks:
            self.die(rank, None, 15, "")

    def _kill(self, _: object) -> None:
        for rank in self.ranks:
            self.die(rank, None, 9, "")

    def _write_part(self, what: tuple[SimRank, int]) -> None:
        rank, step = what
        if not rank.is_alive:
            return
        if self.is_frozen:
            left_s = (self.frozen_until_ns - self.loop.now_ns) / SECOND_NS
            self.loop.after(left_s, self._write_part, what)
            return
        world = self.training.world
        name = checkpoint_name(step, world.attempt)
        part = Part(rank.rank, name, world.attempt, step, world.size, ())
        key = self.agent.scene.keys.part(name, rank.rank)
        try:
            self.agent.store.create(key, codec.dumps(part))
        except StoreError:
            self.loop.after(self.rng.uniform(2.0, 60.0), self._write_part, what)
            return
        self.agent.heard_part(name)
        if step == self.training.total_steps:
            self.announced.add(rank.rank)
            self._await_commit((rank, self.loop.now_s + COMMIT_WAIT_S))

    def _await_commit(self, what: tuple[SimRank, float]) -> None:
        """As `train.rank` does before a rank exits."""
        rank, deadline_s = what
        if not rank.is_alive:
            return
        head, attempt = self.agent.scene.head(), self.training.world.attempt
        is_late = self.loop.now_s > deadline_s or (head is not None and head.attempt > attempt)
        if is_late:
            self.die(rank, 1, None, "nobody committed the last checkpoint")
        elif head is not None and head.checkpoint == checkpoint_name(
            self.training.total_steps, attempt
        ):
            self.loop.after(self.rng.uniform(0.1, 3.0), self._finish, rank)
        else:
            self.loop.after(self.rng.uniform(1.0, 20.0), self._await_commit, what)

    def _finish(self, rank: SimRank) -> None:
        if self.is_frozen:
            self.loop.after(1.0, self._finish, rank)
        elif self.rng.random() < self.agent.scene.teardown_chance:
            self.die(rank, None, 6, "terminate called without an active exception")
        else:
            self.die(rank, 0, None, "")
