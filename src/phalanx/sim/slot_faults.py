"""Faults of single slots: no room for long, tasks that live for minutes, hosts that are lost."""

from __future__ import annotations

import math

from phalanx.sim.clock import stream
from phalanx.sim.faults import ELASTIC_KINDS, FOR_GOOD_S, HOUR_S, Apply, Fault, draw, rng_of
from phalanx.sim.scene import WORK_S, Scene
from phalanx.words import FailureClass


def elastic_kind(apply: Apply) -> Apply:
    """Enter such a kind under its function's name."""
    ELASTIC_KINDS[apply.__name__] = apply
    return apply


def draw_elastic(seed: object) -> tuple[Fault, ...]:
    """A schedule for an elastic job: the usual one, and two to seven faults of single slots."""
    rng = stream(seed, "elastic faults")
    names = sorted(ELASTIC_KINDS)
    faults = list(draw(seed))
    for _ in range(rng.randint(2, 7)):
        at_s = rng.choice((0.0, rng.uniform(0, WORK_S * 1.2)))
        for_s = math.exp(rng.uniform(math.log(60.0), math.log(4 * HOUR_S)))
        faults.append(Fault(rng.choice(names), at_s, for_s, rng.randrange(1 << 16), rng.random()))
    return tuple(sorted(faults, key=lambda f: (f.at_s, f.kind, f.pick)))


@elastic_kind
def slot_outage(scene: Scene, fault: Fault) -> None:
    """Some slots get no task, for hours or for good; their hosts may be lost at that moment.

    For good only while enough slots are left for the job to go on.
    """
    is_for_good = fault.size > 0.8
    kind = ("no_capacity", "partial")[fault.pick % 2]
    slots = _slots(scene, fault, spare=is_for_good or kind == "partial")
    for_s = FOR_GOOD_S if is_for_good else fault.for_s
    scene.moods.spell(kind, for_s, 1.0, slots=slots)
    if fault.pick % 3:
        _lose(scene, slots)


@elastic_kind
def slot_flaps(scene: Scene, fault: Fault) -> None:
    """Tasks of some slots live for minutes only, again and again."""
    slots = _slots(scene, fault, spare=False)
    scene.moods.spell("short", fault.for_s, 0.9, 20 + 900 * fault.size, slots)
    _lose(scene, slots)


@elastic_kind
def slot_lost(scene: Scene, fault: Fault) -> None:
    """The host of one slot is lost, and nothing has room for a few minutes."""
    slots = frozenset({fault.pick % scene.plan.nodes})
    scene.moods.spell("no_capacity", min(fault.for_s, 900.0), 1.0, slots=slots)
    _lose(scene, slots)


def _slots(scene: Scene, fault: Fault, *, spare: bool) -> frozenset[int]:
    rng, plan = rng_of(scene, fault), scene.plan
    among = range(plan.fewest, plan.nodes) if spare else range(plan.nodes)
    return frozenset(rng.sample(among, rng.randint(1, len(among))))


def _lose(scene: Scene, slots: frozenset[int]) -> None:
    for task in scene.cloud.alive():
        if task.request.slot in slots:
            task.failure = FailureClass.HOST_LOST
            scene.cloud.end(task, None, "the host is gone", 5.0)
