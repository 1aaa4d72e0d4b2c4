"""Pauses: asked for and taken back as `pause` and `resume` do it, and what must hold of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from phalanx.checkpoint.manifest import order_of
from phalanx.errors import StoreError
from phalanx.frozen import replace
from phalanx.reconcile.ending import STOP_MARGIN_S, ZOMBIE_AFTER_S
from phalanx.sim.clock import EPOCH_NS
from phalanx.state import codec
from phalanx.state.record import PauseRequest, Record
from phalanx.words import Phase, TaskState

if TYPE_CHECKING:
    from phalanx.sim.cloud import SimTask
    from phalanx.sim.scene import Scene

AGAIN_S = 300.0
"""A task that should not live is looked at twice, this far apart: it may just be leaving."""
RETRY_S = 10.0


def ask(scene: Scene, wants_rest: bool, then: Callable[[], None] = lambda: None) -> None:
    """The user asks, and asks again while there is no answer; `then` is called once there is.

    Somebody drives the job from then on.
    """
    store = scene.store("user", "user")
    try:
        found = store.read(scene.keys.record)
        assert found is not None
        record = codec.loads(Record, found.data)
        is_over = record.phase.is_terminal or record.stop is not None
        if not is_over and (record.pause is None) is wants_rest:
            pause = PauseRequest(EPOCH_NS + scene.loop.now_ns) if wants_rest else None
            body = codec.dumps(replace(record, pause=pause))
            if store.swap(scene.keys.record, body, found.version) is None:
                raise StoreError("somebody else was first")
        if not any(controller.is_alive for controller in scene.controllers):
            scene.add_controller(1.0)
    except StoreError:
        scene.loop.after(RETRY_S, lambda _: ask(scene, wants_rest, then))
    else:
        then()


class Rests:
    """What holds while a job rests."""

    def __init__(
        self, scene: Scene, hold: Callable[[bool, str], None], counts: Counter[str]
    ) -> None:
        self.scene = scene
        self.hold = hold
        self.counts = counts
        self._kept: str | None = None
        """What HEAD named when the job came to rest."""

    def on_record(self, old: Record, new: Record) -> None:
        """A record was replaced."""
        if old.phase is not Phase.PAUSED and new.phase is Phase.PAUSED:
            self._begins(new)
        elif old.phase is Phase.PAUSED and new.attempt > old.attempt:
            self._ends(old, new)
        elif old.phase is Phase.PAUSED:
            is_same = new.phase is Phase.PAUSED or new.ending is Phase.STOPPED
            self.hold(is_same, f"Paused became {new.phase.value}")
            self.hold(new.seats == old.seats, "seats changed while the job rested")

    def allows(self, old: Record, new: Record) -> bool:
        """Whether an ending may be taken back or changed: only that of a pause."""
        if old.ending is not Phase.PAUSED:
            return new.ending is old.ending and new.attempt == old.attempt
        if new.ending is None:
            return old.phase is Phase.PAUSED and new.attempt == old.attempt + 1
        return new.attempt == old.attempt

    def _begins(self, record: Record) -> None:
        self.counts["rests"] += 1
        self.hold(record.history[-1].attempt == record.attempt, "a rest without an end before it")
        head = self.scene.head()
        self._kept = head.checkpoint if head is not None else None
        self.hold(record.paused_since_ns is not None, "a rest of which nobody knows the beginning")
        patience_s = record.plan.stop_grace_s + STOP_MARGIN_S + ZOMBIE_AFTER_S
        names = frozenset(task.id for task in self.scene.cloud.alive())
        self.scene.loop.after(patience_s, self._look, (record.attempt, names, True))

    def _look(self, what: tuple[int, frozenset[str], bool]) -> None:
        """Tasks that lived when the rest began are gone by now, where a stop can be heard."""
        attempt, names, is_first = what
        record = self.scene.checks.record
        if record is None or record.phase is not Phase.PAUSED or record.attempt != attempt:
            return
        alive = frozenset(task.id for task in self.scene.cloud.alive() if self._hears(task))
        left = names & alive
        if is_first and left:
            self.scene.loop.after(AGAIN_S, self._look, (attempt, left, False))
        else:
            self.hold(not left, f"alive while the job rests: {', '.join(sorted(left))}")

    def _hears(self, task: SimTask) -> bool:
        """Whether its agent runs and can read the record, so that nothing keeps it."""
        agent = task.occupant
        is_awake = agent is not None and agent.is_alive and not agent.is_frozen
        is_reached = task.deaf_until_ns < self.scene.loop.now_ns
        has_root = self.scene.root.trouble(task.host) is None
        return task.state is TaskState.RUNNING and is_awake and is_reached and has_root

    def _ends(self, old: Record, new: Record) -> None:
        self.counts["resumes"] += 1
        self.hold(old.pause is None, "the job went on although it was to rest")
        grown = [a.incarnation - b.incarnation for a, b in zip(new.seats, old.seats, strict=True)]
        self.hold(set(grown) == {1}, "a task of before the rest goes on after it")
        before = order_of(self._kept) if self._kept else (-1, -1)
        after = order_of(new.head_at_open) if new.head_at_open else (-1, -1)
        assert before is not None
        assert after is not None
        self.hold(after >= before, f"HEAD was {self._kept} and is {new.head_at_open} after a rest")
