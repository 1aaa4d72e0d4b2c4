"""Everything of one simulation, wired: the root, the cloud, the actors, the news between them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from phalanx import names
from phalanx.errors import StoreError
from phalanx.names import Keys, job_id
from phalanx.plan.job import CheckpointPlan, JobPlan, RestartRule
from phalanx.reconcile.decision import ECS_TIMING, Timing
from phalanx.sim.agent import SimAgent
from phalanx.sim.backend import Moods
from phalanx.sim.clock import EPOCH_NS, Actor, Loop, stream
from phalanx.sim.cloud import Cloud, SimTask
from phalanx.sim.controller import SimController
from phalanx.sim.invariants import Invariants
from phalanx.sim.store import Root, SimObjects, objects
from phalanx.sim.training import Training
from phalanx.state import codec
from phalanx.state.gang import Beat, Head, World
from phalanx.state.record import Record, Seat, StopRequest
from phalanx.store.store import Store
from phalanx.words import FailureClass

WORK_S = 3600.0
"""Undisturbed work of one job."""


@dataclass(frozen=True)
class Shape:
    """What is run, and how patiently."""

    plan: JobPlan
    timing: Timing
    step_s: float
    save_every: int
    controllers: int
    keeps_lineage: bool


@cache
def _built_in_rules() -> tuple[RestartRule, ...]:
    from phalanx.plan.restarts import restart_rules

    return restart_rules(())


def draw_shape(seed: object) -> Shape:
    """2-8 slots, one hour of work."""
    rng = stream(seed, "shape")
    total = rng.choice((60, 360, 720))
    generous = (RestartRule(tuple(FailureClass), limit=None),)
    plan = JobPlan(
        name="sim",
        command=("python", "train.py"),
        nodes=rng.randint(2, 8),
        ranks_per_node=rng.choice((1, 1, 2)),
        total_steps=total,
        checkpoint=CheckpointPlan(every_steps=max(1, total // rng.choice((3, 6, 12)))),
        hang_after_s=rng.choice((60.0, 300.0)),
        stop_grace_s=rng.choice((10.0, 90.0)),
        restart=rng.choice((_built_in_rules(), generous)),
        restart_scope=rng.choice(("slot", "slot", "slot", "gang")),
        no_progress=rng.choice((5, 20)),
        start_timeout_s=rng.choice((600.0, 1800.0)),
        target="sim",
    )
    return Shape(
        plan=plan,
        timing=ECS_TIMING if rng.random() < 0.7 else Timing(),
        step_s=WORK_S / total,
        save_every=plan.checkpoint.every_steps or total,
        controllers=1,
        keeps_lineage=rng.random() < 0.5,
    )


def draw_elastic_shape(seed: object) -> Shape:
    """The same, with a range of nodes."""
    shape = draw_shape(seed)
    rng = stream(seed, "elastic shape")
    plan = replace(
        shape.plan,
        min_nodes=rng.randint(1, shape.plan.nodes - 1),
        last_call_s=rng.choice((10.0, 60.0, 300.0)),
        grow_after_s=rng.choice((None, None, 120.0, 900.0)),
    )
    return replace(shape, plan=plan)


class Scene:
    """One simulated world."""

    def __init__(self, seed: object, shape: Shape) -> None:
        self.seed = seed
        self.shape = shape
        self.plan, self.timing = shape.plan, shape.timing
        self.job = job_id(shape.plan.name, 1)
        self.keys = Keys(self.job)
        self.loop = Loop()
        self.story: list[tuple[int, str]] = []
        self.checks = Invariants(self)
        self.root = Root(self.loop, self._on_write, shape.keeps_lineage)
        self.root.pulse = self._pulse
        self.agents: list[SimAgent] = []
        self.controllers: list[SimController] = []
        self.cloud = Cloud(self.loop, self.stream("cloud"), self._new_agent, self._on_change)
        self.cloud.token_life_s = self.stream("tokens").choice((3600.0, 86400.0))
        self.moods = Moods(self.cloud, self.stream("moods"))
        self.unreadable: set[str] = set()
        self.teardown_chance = 0.0
        self.skews: Callable[[str], int] = lambda host: 0
        self.news_lag_s = 0.0
        """Longest delay of news; they are never lost for good, somebody polls."""
        self._news = self.stream("news")
        self._writers = 0
        self._seated: dict[str, list[SimAgent]] = {}
        self._trainings: dict[int, Training] = {}

    def begin(self) -> None:
        """The record, and the first controllers."""
        record = Record(
            job=self.job,
            plan=self.plan,
            created_ns=EPOCH_NS,
            since_ns=EPOCH_NS,
            attempt_opened_ns=EPOCH_NS,
            seats=tuple(Seat(slot) for slot in range(self.plan.nodes)),
        )
        self.store("submit", "submit").swap(self.keys.record, codec.dumps(record), None)
        for _ in range(self.shape.controllers):
            self.add_controller(0.0)

    def stream(self, *names: object) -> random.Random:
        """Chance for one purpose."""
        return stream(self.seed, *names)

    def store(self, host: str, who: str) -> Store:
        """One process's view of the root; pauses inside one call take no time."""
        self._writers += 1
        view = objects(self.root, host, who, self.stream("store", self._writers))
        return Store(view, f"{who}.{self._writers}", pause=lambda seconds: None)

    def objects_of(self, store: Store) -> SimObjects:
        """The objects below a store of this scene."""
        assert isinstance(store.objects, SimObjects)
        return store.objects

    def skew_ns(self, host: str) -> int:
        """How far a host's clock is from everybody else's."""
        return self.skews(host)

    def tell(self, text: str) -> None:
        """One line of the story."""
        self.story.append((self.loop.now_ns, text))

    def add_controller(self, delay_s: float) -> None:
        """One more controller."""
        controller = SimController(self, len(self.controllers))
        self.controllers.append(controller)
        controller.begin(delay_s)

    def controller_died(self, controller: SimController) -> None:
        """Somebody notices and starts another."""
        controller.kill()
        self.loop.after(self._news.uniform(1.0, 60.0), self._revive)

    def training(self, world: World) -> Training:
        """The collective work of a world."""
        found = self._trainings.get(world.attempt)
        if found is None:
            found = Training(
                self.loop,
                self.stream("training", world.attempt),
                world,
                self.plan.total_steps or 1,
                self.shape.step_s,
                self.shape.save_every,
                self.plan.hang_after_s or 300.0,
                self.plan.start_timeout_s,
            )
            self._trainings[world.attempt] = found
        return found

    def head(self) -> Head | None:
        """HEAD as it is."""
        found = self.root.values.get(self.keys.head)
        return codec.loads(Head, _body(found.data)) if found else None

    def request_stop(self, _: object = None) -> None:
        """The user asks, as `phalanx stop` does, and asks again while there is no answer."""
        try:
            self._ask_to_stop(self.store("user", "user"))
        except StoreError:
            self.loop.after(10.0, self.request_stop)

    def _ask_to_stop(self, store: Store) -> None:
        found = store.read(self.keys.record)
        assert found is not None
        record = codec.loads(Record, found.data)
        if not record.phase.is_terminal and record.stop is None:
            asked = replace(record, stop=StopRequest(EPOCH_NS + self.loop.now_ns))
            store.swap(self.keys.record, codec.dumps(asked), found.version)

    def _pulse(self, key: str) -> tuple[bytes, int] | None:
        """The newest beat under a key, as its agent would have left it: once a second."""
        folder, _, seat = key.rpartition("/")
        attempt = int(folder.split("/")[-2])
        ages = [agent.beat_age_ns(attempt) for agent in self._seated.get(seat, ())]
        known = [age for age in ages if age is not None]
        return (_beat(seat, attempt), min(known)) if known else None

    def _revive(self, _: object) -> None:
        if not any(c.is_alive for c in self.controllers):
            self.add_controller(0.0)

    def _new_agent(self, task: SimTask) -> SimAgent:
        agent = SimAgent(self, task)
        self.agents.append(agent)
        seat = names.seat_name(agent.me.slot, agent.me.incarnation)
        self._seated.setdefault(seat, []).append(agent)
        return agent

    def _on_write(self, key: str, data: bytes, old: bytes | None, who: str) -> None:
        self.checks.on_write(key, _body(data), _body(old) if old is not None else None)
        if "/checkpoints/" not in key and "/tasks/" not in key:
            self._spread(self.agents)
            self._spread(self.controllers)

    def _on_change(self, text: str) -> None:
        if text:
            self.tell(text)
        self._spread(self.controllers)

    def _spread(self, actors: list[SimAgent] | list[SimController]) -> None:
        rng = self._news
        for actor in actors:
            if actor.is_alive:
                self._wake(actor, rng)

    def _wake(self, actor: Actor, rng: random.Random) -> None:
        delay_s = 0.001 + 0.1 * rng.random()
        if self.news_lag_s:
            delay_s += self.news_lag_s * rng.random()
        elif rng.random() < 0.03:
            delay_s = 30.0 * rng.random()
        actor.wake(delay_s)


@lru_cache(maxsize=1024)
def _beat(seat: str, attempt: int) -> bytes:
    slot, incarnation = names.split_seat_name(seat)
    return codec.dumps(Beat(slot, incarnation, attempt))


def _body(data: bytes) -> bytes:
    return data[data.index(b"\n") + 1 :]
