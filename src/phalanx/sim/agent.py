"""An agent that runs the real decisions with any delay between reading, deciding and writing."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING

from phalanx.agent import protocol
from phalanx.agent.protocol import Me, Move, Ranks, Seen
from phalanx.checkpoint.commit import Commit, CommitState
from phalanx.errors import StoreError
from phalanx.sim import committing
from phalanx.sim.clock import FOREVER, Steps
from phalanx.sim.cloud import Occupant, SimTask
from phalanx.sim.ranks import RankGroup
from phalanx.state import codec, read
from phalanx.state.gang import Member

if TYPE_CHECKING:
    from phalanx.sim.scene import Scene

RESTART_GRACE_S = 1.0


class SimAgent(Occupant):
    """The agent of one task: look, decide, carry out one move, as `agent.loop` does."""

    def __init__(self, scene: Scene, task: SimTask) -> None:
        self.scene = scene
        self.task = task
        self.host = task.host
        request = task.request
        self.me = Me(request.slot, request.incarnation, request.token)
        self.rng = scene.stream("agent", task.id)
        self.clock_offset_ns = scene.skew_ns(self.host)
        self.store = scene.store(self.host, f"{self.host}.agent")
        self.group: RankGroup | None = None
        self.pending: set[str] = set()
        self.patience_s = 2.0
        self.pause_next_s = 0.0
        """Frozen for so long between its next look and what it does about it."""
        self.died_ns = 0
        self.failures = 0
        """Looks in a row that the root did not answer."""
        self._mute_since_ns = 0
        self._left_ns: dict[int, int] = {}
        super().__init__(scene.loop, f"agent of {task.id}")

    def monotonic_ns(self) -> int:
        """This host's own clock, hours away from everybody else's."""
        return self.loop.now_ns + self.clock_offset_ns

    def ask_to_leave(self) -> None:
        """SIGTERM."""
        self.me = replace(self.me, asked_to_leave=True)
        self.wake(0.01)

    def kill(self) -> None:
        """The agent is gone, and its ranks with it."""
        if self.is_alive:
            self.died_ns = self.loop.now_ns
        super().kill()
        if self.group is not None:
            self.group.vanish()

    def freeze(self, seconds: float) -> None:
        """No beat while it is stopped."""
        if not self.is_frozen:
            self._mute_since_ns = self.loop.now_ns
        super().freeze(seconds)

    def beat_age_ns(self, attempt: int) -> int | None:
        """Age of its newest beat for an attempt; None when there is none."""
        if self.me.attempt is None or attempt > self.me.attempt:
            return None
        if self.me.attempt > attempt or not self.is_alive:
            return self.loop.now_ns - self._left_ns.get(attempt, self.died_ns)
        trouble = self.scene.root.trouble(self.host)
        if trouble is not None and trouble.kind == "outage":
            return self.loop.now_ns - trouble.since_ns
        return self.loop.now_ns - self._mute_since_ns if self.is_frozen else 0

    def heard_part(self, name: str) -> None:
        """A rank of ours has written its part."""
        self.pending.add(name)
        self.patience_s = 2.0
        self.wake(0.01)

    def life(self) -> Steps:
        """Claim the task, then move until told to leave."""
        while True:
            try:
                is_mine = self.store.create(f"{self.scene.keys.base}/tasks/{self.me.token}", b"{}")
                break
            except StoreError:
                self.failures += 1
                yield min(60.0, 2.0 * self.failures)
        if not is_mine:
            self.scene.cloud.end(self.task, 0, "another task has this token", 0.0)
            return
        while True:
            self.looked()
            move = yield from self._next_move()
            if self.rng.random() < 0.5:
                yield self.lag()
            if isinstance(move, protocol.Leave):
                break
            yield from self._carry_out(move)
        self.scene.tell(f"{self.name} leaves: {move.why}")
        code = 0 if self.rng.random() < 0.95 else 1
        self.scene.cloud.end(self.task, code, "the agent left", self.rng.uniform(0, 10))

    def lag(self) -> float:
        """Mostly short, sometimes long enough for everybody else to move on."""
        if self.pause_next_s:
            self.freeze(self.pause_next_s)
            self.pause_next_s = 0.0
        return self.rng.expovariate(1 / (5.0 if self.rng.random() < 0.05 else 0.01))

    def _next_move(self) -> Generator[float, None, Move]:
        try:
            seen = yield from self._look()
            yield from self._update()
        except StoreError:
            if self.me.asked_to_leave:
                return protocol.decide(self._with_ranks(), Seen(None), self.monotonic_ns())
            self.failures += 1
            return protocol.Wait("the root cannot be read", min(60.0, 2.0 * self.failures))
        self.failures = 0
        now_ns = self.monotonic_ns()
        self.me = protocol.noticed(self.me, seen, now_ns)
        self.scene.checks.on_look(self.me, seen)
        return protocol.decide(self.me, seen, now_ns)

    def _look(self) -> Generator[float, None, Seen]:
        store, keys, rng = self.store, self.scene.keys, self.rng
        found = read.read_record(store, keys)
        if found is None:
            return Seen(None)
        record = found.record
        if rng.random() < 0.3:
            yield self.lag()
        world = read.read_world(store, keys, record.attempt)
        if rng.random() < 0.2:
            yield self.lag()
        head, version = read.read_head(store, keys) if world is None else (None, None)
        members: tuple[Member, ...] = ()
        if world is None or protocol.is_parked(self.me, record):
            members = read.read_members(store, keys, record.attempt)
        if rng.random() < 0.2:
            yield self.lag()
        ends = read.read_ends(store, keys, record.attempt)
        return Seen(record, members, world, ends, head, version)

    def _with_ranks(self) -> Me:
        group = self.group
        if group is None or group.training.world.attempt != self.me.attempt:
            return self.me
        if group.state is Ranks.ENDED:
            return replace(self.me, ranks=Ranks.ENDED, end=group.the_end())
        return replace(self.me, ranks=group.state)

    def _update(self) -> Generator[float, None, None]:
        """The ranks as they are now; what they wrote is committed before their end is told."""
        if self.group is not None:
            self.group.settle()
        if self.pending:
            yield from self._commit_pending()
        self.me = self._with_ranks()

    def _commit_pending(self) -> Generator[float, None, None]:
        group = self.group
        if group is None:
            self.pending.clear()
            return
        world = group.training.world
        who = (world.attempt, world.size)
        for name in sorted(self.pending):
            outcome: Commit = yield from committing.commit_steps(self, who, name)
            if outcome.state is not CommitState.INCOMPLETE:
                self.pending.discard(name)
            self.scene.checks.counts[f"commit {outcome.state.value}"] += 1

    def _carry_out(self, move: Move) -> Steps:
        try:
            if isinstance(move, protocol.Wait):
                yield self.idle(self._patience(move))
            elif isinstance(move, protocol.Seal):
                yield from committing.seal_steps(self, move)
            else:
                self._act(move)
                if isinstance(move, protocol.SaveFirst):
                    yield self.idle(5.0)
        except StoreError:
            yield 0.2 + self.rng.random()

    def _patience(self, move: protocol.Wait) -> float:
        seconds = FOREVER if move.seconds is None else max(move.seconds, 0.2)
        if move.why.startswith("ranks are stopping"):
            seconds = 1.0
        if self.pending:
            self.patience_s = min(60.0, self.patience_s * 2)
            seconds = min(seconds, self.patience_s)
        return seconds

    def _act(self, move: Move) -> None:
        keys, me = self.scene.keys, self.me
        if isinstance(move, protocol.Prepare):
            self._prepare(move.attempt)
        elif isinstance(move, protocol.Join):
            key = keys.member(move.member.attempt, me.slot, me.incarnation)
            self.store.create(key, codec.dumps(move.member))
        elif isinstance(move, protocol.Freeze):
            self.store.create(keys.world(move.world.attempt), codec.dumps(move.world))
        elif isinstance(move, protocol.StartRanks):
            training = self.scene.training(move.world)
            self.scene.checks.on_start(self, move.world)
            self.group = RankGroup(self, training, self.rng)
            self.me = replace(me, ranks=Ranks.RUNNING)
        elif isinstance(move, protocol.StopRanks) and self.group is not None:
            grace_s = self.scene.plan.stop_grace_s if move.by_user else RESTART_GRACE_S
            self.group.stop(move.why, grace_s)
        elif isinstance(move, protocol.SaveFirst):
            self._save_first()
        elif isinstance(move, protocol.WriteEnd):
            end = replace(move.end, at_ns=self.store.now_ns())
            self.store.create(keys.end(end.attempt, me.slot, me.incarnation), codec.dumps(end))

    def _save_first(self) -> None:
        """All ranks of the world save one agreed step, or the notice is declined."""
        is_agreed = self.group is not None and self.rng.random() < 0.7
        if is_agreed and self.group is not None:
            self.group.training.save_soon()
        self.loop.after(self.rng.uniform(1.0, 40.0), self._settled)

    def _settled(self, _: object) -> None:
        if self.is_alive:
            self.me = replace(self.me, save_settled=True)
            self.wake(0.01)

    def _prepare(self, attempt: int) -> None:
        ranks = self.scene.plan.ranks_per_node
        me = self.me
        ready = Member(me.slot, me.incarnation, attempt, self.host, 29500, ranks, host=self.host)
        if me.attempt != attempt:
            self.scene.checks.on_prepare(self)
            if me.attempt is not None:
                self._left_ns[me.attempt] = self.loop.now_ns
            me = replace(me, ranks=Ranks.NONE, end=None, complete_since_ns=None)
            me = replace(me, save_settled=False)
            self.group = None
            self.pending.clear()
        self.me = replace(me, attempt=attempt, ready=ready)
