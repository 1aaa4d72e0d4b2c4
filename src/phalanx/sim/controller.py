"""Controllers that run the real steps of a tick, and crash or pause between any two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phalanx.controller import tick
from phalanx.controller.ports import Ports
from phalanx.errors import PhalanxError, StoreError
from phalanx.reconcile.decision import Decision
from phalanx.sim.backend import SimBackend
from phalanx.sim.clock import Actor, Steps

if TYPE_CHECKING:
    from phalanx.sim.scene import Scene

IDLE_MAX_S = 300.0


class SimController(Actor):
    """One controller of the job."""

    def __init__(self, scene: Scene, number: int) -> None:
        self.scene = scene
        name = f"controller-{number}"
        self.rng = scene.stream(name)
        self.backend = SimBackend(scene.cloud, scene.moods, scene.checks.on_launch)
        store = scene.store(name, name)
        self.objects = scene.objects_of(store)
        self.ports = Ports(store, self.backend, scene.timing, scene.job)
        self.crash_at = ""
        """`decided`, `saved` or `acted`: the process dies there once."""
        self.pause_at: tuple[str, float] | None = None
        """Stopped there once, for so many seconds."""
        super().__init__(scene.loop, name)

    def life(self) -> Steps:
        """Ticks until the job is settled."""
        while True:
            self.looked()
            try:
                if self.rng.random() < 0.3:
                    yield from self._keep_answers()
                sight = tick.look(self.ports)
            except PhalanxError:
                self._drop_answers()
                yield self.rng.uniform(0.5, 10.0)
                continue
            if sight is None or tick.is_settled(sight.record):
                return
            yield self._lag()
            decision = tick.decide(sight, self.ports)
            self.scene.checks.on_decision(sight, decision, self.rng)
            yield from self._point("decided")
            try:
                is_saved = tick.save(self.ports, sight, decision)
            except StoreError:
                yield self.rng.uniform(0.5, 10.0)
                continue
            if not is_saved:
                yield self._lag()
                continue
            yield from self._point("saved")
            yield from self._act(decision)
            yield self.idle(self._patience(decision, decision.record != sight.record))

    def _act(self, decision: Decision) -> Steps:
        for action in decision.actions:
            try:
                tick.act(self.ports, decision.record, action)
            except PhalanxError:
                yield self.rng.uniform(0.5, 5.0)
            yield from self._point("acted")

    def _keep_answers(self) -> Steps:
        """A look is no snapshot: what was answered first may be old when the rest is read."""
        key = self.ports.keys.record
        self.objects.kept[key] = self.objects.get(key)
        yield self._lag()
        if self.rng.random() < 0.5:
            self.backend.kept = self.backend.observe(self.scene.job)
            yield self._lag()

    def _drop_answers(self) -> None:
        self.objects.kept.clear()
        self.backend.kept = None

    def _point(self, name: str) -> Steps:
        if self.crash_at == name:
            self.scene.tell(f"{self.name} crashes once it has {name}")
            self.scene.controller_died(self)
        if self.pause_at is not None and self.pause_at[0] == name:
            seconds, self.pause_at = self.pause_at[1], None
            self.scene.tell(f"{self.name} is paused for {seconds:.0f} s once it has {name}")
            self.freeze(seconds)
        yield self._lag()

    def _lag(self) -> float:
        return self.rng.expovariate(1 / (10.0 if self.rng.random() < 0.03 else 0.02))

    def _patience(self, decision: Decision, is_changed: bool) -> float:
        """Where nothing changes a slower look is as good: it saves events, not chances."""
        seconds = max(decision.recheck_after_s, 0.02)
        if is_changed or seconds >= IDLE_MAX_S:
            return seconds
        if decision.record.phase.is_terminal:
            return 600.0
        return min(IDLE_MAX_S, max(seconds, 0.5) * self.rng.uniform(1.0, 20.0))
