"""Every kind of fault, one function each. A schedule is drawn up front, so it can be shrunk."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from phalanx.clock import SECOND_NS
from phalanx.sim.agent import SimAgent
from phalanx.sim.clock import stream
from phalanx.sim.cloud import SimTask
from phalanx.sim.controller import SimController
from phalanx.sim.ranks import RankGroup
from phalanx.sim.scene import WORK_S, Scene
from phalanx.sim.store import Trouble
from phalanx.words import FailureClass, TaskState

HOUR_S = 3600.0
FOR_GOOD_S = 1e7


@dataclass(frozen=True)
class Fault:
    """One fault: what, when, for how long, whom, how hard (0..1)."""

    kind: str
    at_s: float
    for_s: float
    pick: int
    size: float

    def line(self) -> str:
        """For people, and to be read back by nobody."""
        return f"{self.kind} at {self.at_s:.0f} s for {self.for_s:.0f} s (pick {self.pick})"


Apply = Callable[[Scene, Fault], None]
KINDS: dict[str, Apply] = {}
"""By name."""


def kind(apply: Apply) -> Apply:
    """Enter a kind under its function's name."""
    KINDS[apply.__name__] = apply
    return apply


ELASTIC_KINDS: dict[str, Apply] = {}
"""Those of `phalanx.sim.slot_faults`, for jobs that can go on without some slots."""


def draw(seed: object, only: tuple[str, ...] | None = None) -> tuple[Fault, ...]:
    """A schedule: a random subset of kinds, at least six faults, some of them close together."""
    rng = stream(seed, "faults")
    names = sorted(only or KINDS)
    enabled = [name for name in names if rng.random() < 0.35] or [rng.choice(names)]
    count = 6 + min(14, int(rng.expovariate(1 / 4)))
    faults: list[Fault] = []
    at_s = 0.0
    for _ in range(count):
        is_close = bool(faults) and rng.random() < 0.4
        at_s = at_s + rng.expovariate(1 / 20) if is_close else rng.uniform(0, WORK_S * 1.2)
        for_s = math.exp(rng.uniform(math.log(1.0), math.log(2 * HOUR_S)))
        faults.append(Fault(rng.choice(enabled), at_s, for_s, rng.randrange(1 << 16), rng.random()))
    return tuple(sorted(faults, key=lambda f: (f.at_s, f.kind, f.pick)))


def plan(scene: Scene, faults: tuple[Fault, ...]) -> None:
    """Put the schedule on the heap."""
    for fault in faults:
        scene.loop.after(fault.at_s, _strike, (scene, fault))


def _strike(what: tuple[Scene, Fault]) -> None:
    scene, fault = what
    scene.tell(f"fault: {fault.line()}")
    scene.checks.counts[f"fault {fault.kind}"] += 1
    (KINDS.get(fault.kind) or ELASTIC_KINDS[fault.kind])(scene, fault)


def rng_of(scene: Scene, fault: Fault) -> random.Random:
    """Chance for one fault."""
    return scene.stream(fault.kind, fault.pick, fault.at_s)


def _task(scene: Scene, fault: Fault) -> SimTask | None:
    alive = scene.cloud.alive()
    return alive[fault.pick % len(alive)] if alive else None


def _agent(scene: Scene, fault: Fault) -> SimAgent | None:
    alive = [agent for agent in scene.agents if agent.is_alive]
    return alive[fault.pick % len(alive)] if alive else None


def _group(scene: Scene, fault: Fault) -> RankGroup | None:
    agent = _agent(scene, fault)
    return agent.group if agent is not None else None


def _controller(scene: Scene, fault: Fault) -> SimController | None:
    alive = [c for c in scene.controllers if c.is_alive]
    return alive[fault.pick % len(alive)] if alive else None


@kind
def task_kill(scene: Scene, fault: Fault) -> None:
    """A task's processes are killed."""
    task = _task(scene, fault)
    if task is not None and task.state is not TaskState.PENDING:
        scene.cloud.end(task, 137, "killed", 10 * fault.size)


@kind
def host_loss(scene: Scene, fault: Fault) -> None:
    """A host is gone; told minutes later."""
    task = _task(scene, fault)
    if task is not None:
        task.failure = FailureClass.HOST_LOST
        scene.cloud.end(task, None, "the host is gone", 30 + 270 * fault.size)


@kind
def rank_kill(scene: Scene, fault: Fault) -> None:
    """One rank is killed by SIGKILL."""
    group = _group(scene, fault)
    if group is not None:
        group.die(group.ranks[fault.pick % len(group.ranks)], None, 9, "")


@kind
def rank_error(scene: Scene, fault: Fault) -> None:
    """One rank raises."""
    group = _group(scene, fault)
    if group is not None:
        group.die(group.ranks[0], 1, None, "ValueError: loss is not finite")


@kind
def rank_hang(scene: Scene, fault: Fault) -> None:
    """One slot's ranks do no step any more."""
    group = _group(scene, fault)
    if group is not None:
        group.hang()


@kind
def partial_launch(scene: Scene, fault: Fault) -> None:
    """Launches are accepted, but only some of them start anything."""
    scene.moods.spell("partial", min(fault.for_s, HOUR_S), 0.3 + 0.5 * fault.size)


@kind
def ghost_launch(scene: Scene, fault: Fault) -> None:
    """Answered as failed, yet started; or accepted and ended before it ran."""
    scene.moods.spell("ghost", min(fault.for_s, HOUR_S), 0.3 + 0.5 * fault.size)


@kind
def late_launch(scene: Scene, fault: Fault) -> None:
    """A request arrives up to hours after it was made."""
    scene.moods.spell("late", min(fault.for_s, HOUR_S), 0.5, 3 * HOUR_S * fault.size)


@kind
def no_capacity(scene: Scene, fault: Fault) -> None:
    """Nothing has room."""
    scene.moods.spell("no_capacity", fault.for_s, 0.5 + 0.5 * fault.size)


@kind
def throttling(scene: Scene, fault: Fault) -> None:
    """The control plane asks for patience."""
    scene.moods.spell("throttled", fault.for_s, 0.3 + 0.6 * fault.size)


@kind
def hidden_tasks(scene: Scene, fault: Fault) -> None:
    """New tasks are not to be seen for minutes, and start slowly."""
    cloud = scene.cloud
    cloud.hide_s, cloud.start_s = 200 * fault.size, 200 * fault.size
    scene.loop.after(fault.for_s, _show, scene)


@kind
def forgotten_ending(scene: Scene, fault: Fault) -> None:
    """A task ends, and the control plane knows nothing of it any more."""
    task = _task(scene, fault)
    if task is not None:
        scene.cloud.end(task, None, "ended and forgotten", 0.0)
        task.forget_ns = scene.loop.now_ns


@kind
def lost_answer(scene: Scene, fault: Fault) -> None:
    """The store does what it was asked, or not, or later; nobody hears which."""
    _trouble(scene, fault, "lost", 0.2 + 0.6 * fault.size)


@kind
def store_conflict(scene: Scene, fault: Fault) -> None:
    """Repeated requests meet themselves, and are answered with a conflict."""
    _trouble(scene, fault, "conflict", 0.2 + 0.6 * fault.size)


@kind
def store_outage(scene: Scene, fault: Fault) -> None:
    """The root cannot be reached, by everybody or by some hosts."""
    _trouble(scene, fault, "outage", 0.5 + 0.5 * fault.size)


@kind
def controller_crash(scene: Scene, fault: Fault) -> None:
    """A controller dies wherever it is."""
    controller = _controller(scene, fault)
    if controller is not None:
        scene.controller_died(controller)


@kind
def crash_before_act(scene: Scene, fault: Fault) -> None:
    """A controller dies between saving its decision and acting on it, or half-way."""
    controller = _controller(scene, fault)
    if controller is not None:
        controller.crash_at = ("saved", "acted", "decided")[fault.pick % 3]


@kind
def paused_controller(scene: Scene, fault: Fault) -> None:
    """A controller stops between two steps, and acts hours late on what it saw."""
    controller = _controller(scene, fault)
    if controller is not None:
        pause_s = 60 + 3 * HOUR_S * fault.size
        controller.pause_at = (("decided", "saved", "acted")[fault.pick % 3], pause_s)
        if len([c for c in scene.controllers if c.is_alive]) == 1:
            scene.add_controller(30.0)


@kind
def two_controllers(scene: Scene, fault: Fault) -> None:
    """One more controller drives the same job."""
    if sum(c.is_alive for c in scene.controllers) < 3:
        scene.add_controller(0.0)


@kind
def spot_notice(scene: Scene, fault: Fault) -> None:
    """Two minutes, or two seconds, until the host is gone."""
    task = _task(scene, fault)
    if task is None or task.occupant is None:
        return
    task.failure = FailureClass.SPOT_INTERRUPTION
    task.occupant.ask_to_leave()
    scene.loop.after(120.0 if fault.size < 0.7 else 2.0, _interrupt, (scene, task))


@kind
def lost_events(scene: Scene, fault: Fault) -> None:
    """News come late, twice or in another order; polling is all that is left."""
    scene.news_lag_s = 10 + 100 * fault.size
    scene.loop.after(fault.for_s, _news_again, scene)


@kind
def frozen_process(scene: Scene, fault: Fault) -> None:
    """An agent, its ranks, or both are stopped, and come back; perhaps on a host cut off as well.

    Some stop at once, some right before their next write, with what they saw in their hands.
    """
    agent = _agent(scene, fault)
    if agent is None:
        return
    if fault.pick % 7 < 2:
        agent.pause_next_s = fault.for_s
    elif fault.pick % 7 < 5:
        agent.freeze(fault.for_s)
    if fault.pick % 7 > 2 and agent.group is not None:
        agent.group.freeze(fault.for_s)
    if fault.size < 0.4:
        _deafen(agent.task, fault.for_s, scene.loop.now_ns)


@kind
def frozen_gang(scene: Scene, fault: Fault) -> None:
    """Every agent is stopped and cut off; their ranks train on and write, and nobody commits."""
    for agent in [one for one in scene.agents if one.is_alive]:
        agent.freeze(fault.for_s)
        _deafen(agent.task, 2 * fault.for_s, scene.loop.now_ns)


@kind
def deaf_host(scene: Scene, fault: Fault) -> None:
    """The host's connection to the control plane is cut: no stop arrives there, maybe for good."""
    task = _task(scene, fault)
    if task is not None:
        for_s = FOR_GOOD_S if fault.size > 0.7 else fault.for_s
        _deafen(task, for_s, scene.loop.now_ns)


@kind
def cut_off_host(scene: Scene, fault: Fault) -> None:
    """A host loses both the control plane and the store, and trains on."""
    task = _task(scene, fault)
    if task is not None:
        for_s = FOR_GOOD_S if fault.size > 0.5 else fault.for_s
        until_ns = _deafen(task, for_s, scene.loop.now_ns)
        hosts = frozenset({task.host})
        since_ns = scene.loop.now_ns
        scene.root.troubles.append(Trouble("outage", until_ns, 1.0, hosts, since_ns))


@kind
def clock_skew(scene: Scene, fault: Fault) -> None:
    """A host's clock jumps by hours."""
    agent = _agent(scene, fault)
    if agent is not None:
        agent.clock_offset_ns += int((fault.size - 0.2) * 10 * HOUR_S) * SECOND_NS


@kind
def unreadable_checkpoint(scene: Scene, fault: Fault) -> None:
    """The newest committed checkpoint can no longer be restored."""
    head = scene.head()
    if head is not None and head.checkpoint is not None:
        scene.unreadable.add(head.checkpoint)


@kind
def teardown_abort(scene: Scene, fault: Fault) -> None:
    """Ranks abort after their last step."""
    scene.teardown_chance = 0.1


@kind
def user_stop(scene: Scene, fault: Fault) -> None:
    """Somebody stops the job; rarely, or nothing else would be seen."""
    if fault.size < 0.25:
        scene.request_stop()


def _trouble(scene: Scene, fault: Fault, name: str, chance: float) -> None:
    until_ns = scene.loop.now_ns + int(min(fault.for_s, HOUR_S) * SECOND_NS)
    hosts = None
    if fault.pick % 2:
        rng = rng_of(scene, fault)
        everybody = [t.host for t in scene.cloud.alive()] + [c.name for c in scene.controllers]
        hosts = frozenset(host for host in everybody if rng.random() < 0.4)
    scene.root.troubles.append(Trouble(name, until_ns, chance, hosts, scene.loop.now_ns))


def _deafen(task: SimTask, seconds: float, now_ns: int) -> int:
    until_ns = now_ns + int(seconds * SECOND_NS)
    task.deaf_until_ns = max(task.deaf_until_ns, until_ns)
    return until_ns


def _interrupt(what: tuple[Scene, SimTask]) -> None:
    scene, task = what
    scene.cloud.end(task, None, "the Spot instance was interrupted", 30.0)


def _news_again(scene: Scene) -> None:
    scene.news_lag_s = 0.0


def _show(scene: Scene) -> None:
    scene.cloud.hide_s, scene.cloud.start_s = 2.0, 20.0
