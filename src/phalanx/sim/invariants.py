"""The promises, checked at every write, launch, start and decision: nothing else changes the world.

Each check says what was broken in one sentence; the scene collects them.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from phalanx import names
from phalanx.agent.protocol import Me, Ranks, Seen
from phalanx.backends.base import Request
from phalanx.checkpoint.manifest import Manifest, order_of
from phalanx.controller.tick import Sight
from phalanx.reconcile.decision import Decision, Launch
from phalanx.reconcile.reconcile import reconcile
from phalanx.reconcile.restart import match
from phalanx.sim.rests import Rests
from phalanx.sim.sizes import Sizes
from phalanx.state import codec
from phalanx.state.gang import End, Head, Member, World
from phalanx.state.observed import Observed
from phalanx.state.record import Record
from phalanx.words import FailureClass, Phase

if TYPE_CHECKING:
    from phalanx.sim.agent import SimAgent
    from phalanx.sim.scene import Scene

SHUFFLED = 0.1
"""Share of decisions that are taken again with everything observed in another order."""


class Invariants:
    """What must hold, and what was counted on the way."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.violations: list[str] = []
        self.counts: Counter[str] = Counter()
        self.record: Record | None = None
        self.seats: dict[int, frozenset[tuple[int, int]]] = {}
        """Every (slot, incarnation) that was seated in an attempt."""
        self.active: dict[int, frozenset[tuple[int, int]]] = {}
        """Those that take part in its world."""
        self.sizes = Sizes(self.hold, self.counts)
        self.rests = Rests(scene, self.hold, self.counts)
        self.worlds: dict[int, World] = {}
        self.sealed: dict[int, str | None] = {}
        """Checkpoint that the seal of an attempt kept."""

    def broken(self, text: str) -> None:
        """Remember a broken promise."""
        self.violations.append(text)
        self.scene.tell(f"VIOLATION: {text}")

    def hold(self, is_true: bool, text: str) -> None:
        """One promise."""
        if not is_true:
            self.broken(text)

    def on_write(self, key: str, data: bytes, old: bytes | None) -> None:
        """Anything that was written. `data` is without its stamp."""
        keys = self.scene.keys
        folder, _, last = key.rpartition("/")
        if key == keys.record:
            self._on_record(codec.loads(Record, data))
        elif key == keys.head:
            self._on_head(codec.loads(Head, data), codec.loads(Head, old) if old else None)
        elif last == "world":
            self._on_world(codec.loads(World, data))
        elif last == "manifest":
            self._on_manifest(codec.loads(Manifest, data))
        elif folder.endswith("/members"):
            self._on_member(codec.loads(Member, data))
        elif folder.endswith("/ends"):
            end = codec.loads(End, data)
            self._is_seated("an end", end.slot, end.incarnation, end.attempt)

    def on_decision(self, sight: Sight, decision: Decision, rng: random.Random) -> None:
        """Every decision has a reason, and depends on no order."""
        self.counts["passes"] += 1
        self.counts["decisions"] += decision.record is not sight.record
        self.counts[f"reason {decision.reason}"] += 1
        self.hold(bool(decision.reason), "a decision without a reason")
        is_over = sight.record.phase.is_terminal or sight.record.ending is not None
        launches = any(isinstance(a, Launch) for a in decision.actions)
        self.hold(not (is_over and launches), "a launch was decided although the job is ending")
        if rng.random() < SHUFFLED:
            self.counts["shuffled"] += 1
            again = reconcile(sight.record, _shuffled(sight, rng), sight.now_ns, self.scene.timing)
            self.hold(again == decision, f"another order, another decision: {decision.reason}")

    def on_launch(self, request: Request) -> None:
        """The record was read again a moment ago; this is the real one."""
        self.counts["launches"] += 1
        record = self.record
        assert record is not None
        is_over = record.phase.is_terminal or record.ending is Phase.PAUSED
        self.hold(not is_over, f"a launch after {record.phase.value}")
        seat = record.seats[request.slot]
        wanted = (seat.incarnation, seat.tries, seat.launched_ns is not None)
        said = f"a launch of {request.slot}.{request.incarnation} that the record does not intend"
        self.hold((request.incarnation, request.tries, True) == wanted, said)

    def on_look(self, me: Me, seen: Seen) -> None:
        """What an agent acts on."""
        self.counts["looks"] += 1

    def on_prepare(self, agent: SimAgent) -> None:
        """An agent turns to the next attempt."""
        is_over = agent.group is None or agent.group.state is Ranks.ENDED
        self.hold(is_over, f"{agent.name} forgets ranks that still live")

    def on_start(self, agent: SimAgent, world: World) -> None:
        """Ranks start: in the world that was frozen, and by one live task of a seat."""
        self.hold(world == self.worlds.get(world.attempt), "ranks start in a world of their own")
        mine = (agent.me.slot, agent.me.incarnation)
        self.hold(world.has(*mine), f"{mine} starts ranks in a world without it")
        for other in self.scene.agents:
            if other is agent or not other.is_alive or other.group is None:
                continue
            same = (other.me.slot, other.me.incarnation) == mine
            is_busy = other.group.state in (Ranks.RUNNING, Ranks.STOPPING)
            self.hold(not (same and is_busy), f"two live tasks have joined for {mine}")

    def at_the_end(self) -> None:
        """After everything has come to rest."""
        record = self.record
        assert record is not None
        told = f"{record.phase.value}/{record.reason}: {record.message}"
        self.counts[f"end {record.phase.value}"] += 1
        self.counts[f"ended as {record.reason}"] += 1
        self.counts["attempts"] += record.attempt + 1
        self.hold(record.phase.is_terminal, f"the job never ended: {told}")
        if record.phase.is_terminal:
            now_ns = self.scene.loop.now_ns
            deaf = [t for t in self.scene.cloud.alive() if t.deaf_until_ns >= now_ns]
            self.hold(record.sweeps >= 2 or bool(deaf), f"the job was never swept: {told}")
            alive = [t.id for t in self.scene.cloud.alive() if t.deaf_until_ns < now_ns]
            self.hold(not alive, f"alive long after the end: {', '.join(alive)}")
            self._allowed_end(record)

    def _on_record(self, new: Record) -> None:
        old, self.record = self.record, new
        seated = frozenset((s.slot, s.incarnation) for s in new.seats)
        slots = [s.slot for s in new.seats]
        self.hold(slots == list(range(new.plan.nodes)), f"seats of slots {slots}")
        self.seats[new.attempt] = self.seats.get(new.attempt, frozenset()) | seated
        active = frozenset((s.slot, s.incarnation) for s in new.active)
        known = self.active.setdefault(new.attempt, active)
        self.hold(known == active, f"seats changed inside attempt {new.attempt}")
        self.sizes.within(new)
        self.hold(bool(new.reason and new.message), "a record without a reason")
        if old is None:
            return
        self._monotone(old, new)
        if old.phase.is_terminal:
            kept = (old.phase, old.ended_ns, old.attempt, old.cause, old.seats)
            now = (new.phase, new.ended_ns, new.attempt, new.cause, new.seats)
            self.hold(kept == now, f"{old.phase.value} became {new.phase.value}")
        if new.attempt > old.attempt:
            self.scene.tell(f"attempt {new.attempt} opens: {new.message}")
            self._budget(new)
            self.sizes.on_attempt(old, new, self.scene.head(), self.scene.timing)
        elif (old.phase, old.reason) != (new.phase, new.reason):
            self.scene.tell(f"{new.phase.value}/{new.reason}: {new.message}")

    def _monotone(self, old: Record, new: Record) -> None:
        self.hold(new.attempt - old.attempt in (0, 1), f"attempt {old.attempt} → {new.attempt}")
        if old.ending is not None:
            said = f"ending {old.ending} became {new.ending} in attempt {new.attempt}"
            self.hold(self.rests.allows(old, new), said)
        self.rests.on_record(old, new)
        self.hold(set(old.unreadable) <= set(new.unreadable), "an unreadable one was forgotten")
        self.hold(old.history == new.history[: len(old.history)], "history was rewritten")
        for before, after in zip(old.seats, new.seats, strict=True):
            grown = after.incarnation - before.incarnation
            self.hold(grown in (0, 1), f"slot {after.slot}: incarnation went by {grown}")
            is_asked_anew = before.launched_ns is not None and after.launched_ns is None
            same = (before.incarnation, before.tries) == (after.incarnation, after.tries)
            self.hold(not (is_asked_anew and same), f"slot {after.slot}: one token, two intents")
            if not grown:
                self.hold(after.tries >= before.tries, f"slot {after.slot}: tries went down")

    def _budget(self, record: Record) -> None:
        restarts = record.counted + record.uncounted
        self.hold(restarts == record.attempt, f"{restarts} restarts for attempt {record.attempt}")
        self.hold(record.fruitless < record.plan.no_progress, "a restart beyond no_progress")
        last = record.history[-1].cause.failure
        if last is FailureClass.RESIZED or record.reason == "Resumed":
            return
        rule = match(record.plan.restart, last)
        self.hold(rule.do == "restart", f"a restart after {last.value}, which says fail")
        same = [p for p in record.history if p.cause.failure in (rule.on or (last,))]
        if rule.limit is not None:
            self.hold(len(same) <= rule.limit, f"{len(same)} restarts after {last.value}")

    def _on_head(self, new: Head, old: Head | None) -> None:
        self.scene.tell(f"HEAD: attempt {new.attempt}, {new.checkpoint}")
        record = self.record
        assert record is not None
        self.hold(new.attempt <= record.attempt, f"HEAD of attempt {new.attempt} before it opened")
        if new.checkpoint is not None:
            is_whole = self.scene.keys.manifest(new.checkpoint) in self.scene.root.values
            self.hold(is_whole, f"HEAD names {new.checkpoint}, which has no manifest")
        before = order_of(old.checkpoint) if old and old.checkpoint else (-1, -1)
        after = order_of(new.checkpoint) if new.checkpoint else (-1, -1)
        assert before is not None
        assert after is not None
        if old is not None and new.attempt < old.attempt:
            self.broken(f"HEAD's attempt went from {old.attempt} to {new.attempt}")
        elif old is not None and new.attempt == old.attempt:
            self.hold(after > before, f"HEAD went from {old.checkpoint} to {new.checkpoint}")
            said = f"attempt {new.attempt} committed {new.checkpoint}"
            self.hold(after[0] == new.attempt, said)
            self.counts["commits"] += 1
        else:
            self._on_seal(new, old, (before, after))

    def _on_seal(
        self, new: Head, old: Head | None, orders: tuple[tuple[int, int], tuple[int, int]]
    ) -> None:
        before, after = orders
        self.sealed[new.attempt] = new.checkpoint
        self.counts["seals"] += 1
        record = self.record
        assert record is not None
        was = old.checkpoint if old else None
        if after < before:
            is_bad = was in record.unreadable
            self.hold(is_bad, f"a seal took HEAD back from {was} to {new.checkpoint}")
            self.counts["steps back"] += 1
        elif after > before:
            self.counts["adopted"] += 1
        self.hold(after[0] < new.attempt, f"the seal of {new.attempt} names {new.checkpoint}")
        self.hold(new.checkpoint not in record.unreadable, "a seal names an unreadable checkpoint")

    def _on_world(self, world: World) -> None:
        self.scene.tell(f"world of attempt {world.attempt} from {world.checkpoint}")
        self.hold(world.attempt not in self.worlds, f"two worlds of attempt {world.attempt}")
        self.worlds[world.attempt] = world
        members = [(m.slot, m.incarnation) for m in world.members]
        seats = sorted(self.active.get(world.attempt, frozenset()))
        said = f"the world of attempt {world.attempt} has {members}, seated are {seats}"
        self.hold(members == seats, said)
        is_sealed = self.sealed.get(world.attempt, "") == world.checkpoint
        self.hold(is_sealed, f"the world names {world.checkpoint}, which no seal kept")
        split = names.split_checkpoint_name(world.checkpoint) if world.checkpoint else (0, 0)
        assert split is not None
        self.hold(split[0] == world.checkpoint_step, "the world tells a wrong step")

    def _on_member(self, member: Member) -> None:
        self._is_seated("a member", member.slot, member.incarnation, member.attempt)

    def _is_seated(self, what: str, slot: int, incarnation: int, attempt: int) -> None:
        is_seated = (slot, incarnation) in self.seats.get(attempt, frozenset())
        self.hold(is_seated, f"{what} of {slot}.{incarnation}, not seated in attempt {attempt}")

    def _on_manifest(self, manifest: Manifest) -> None:
        world = self.worlds.get(manifest.attempt)
        ranks = [part.rank for part in manifest.parts]
        is_whole = world is not None and ranks == list(range(world.size))
        self.hold(is_whole, f"{manifest.name} holds parts of ranks {ranks}")
        told = {(part.attempt, part.step) for part in manifest.parts}
        self.hold(told == {(manifest.attempt, manifest.step)}, f"{manifest.name} mixes {told}")

    def _allowed_end(self, record: Record) -> None:
        if record.phase is Phase.SUCCEEDED:
            head = self.scene.head()
            total = record.plan.total_steps
            split = (
                names.split_checkpoint_name(head.checkpoint) if head and head.checkpoint else None
            )
            done = split[0] if split else None
            self.hold(done == total, f"Succeeded with {done} of {total} steps committed")
        elif record.phase is Phase.STOPPED:
            self.hold(record.stop is not None, "Stopped, and nobody asked for it")
        else:
            self._allowed_failure(record)

    def _allowed_failure(self, record: Record) -> None:
        cause = record.cause
        if cause is None:
            self.broken(f"Failed without a cause: {record.reason}")
            return
        if record.reason == FailureClass.NO_PROGRESS.value:
            recent = record.history[-record.plan.no_progress :]
            self.hold(len(recent) == record.plan.no_progress, "NoProgress before its time")
            return
        if record.reason == "MaxRuntime":
            self.broken(f"only max_runtime ended the job: {record.message}")
            return
        rule = match(record.plan.restart, cause.failure)
        same = [p for p in record.history if p.cause.failure in (rule.on or (cause.failure,))]
        is_used_up = rule.limit is not None and len(same) > rule.limit
        said = f"Failed as {record.reason} although {cause.failure.value} may restart"
        self.hold(rule.do == "fail" or is_used_up, said)


def _shuffled(sight: Sight, rng: random.Random) -> Observed:
    observed = sight.observed
    tasks, ends, members = list(observed.tasks), list(observed.ends), list(observed.members)
    for items in (tasks, ends, members):
        rng.shuffle(items)
    return replace(observed, tasks=tuple(tasks), ends=tuple(ends), members=tuple(members))
