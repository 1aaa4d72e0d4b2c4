"""Play one seed, tell its story, shrink it to what matters.

python -m phalanx.sim.run SEED          play one seed and print its story when it breaks
python -m phalanx.sim.run SEED --story  print the story in any case
with --elastic: a job with a range of nodes
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from phalanx.clock import SECOND_NS
from phalanx.sim import faults as faults_of
from phalanx.sim import user_faults as user_faults
from phalanx.sim.clock import EPOCH_NS
from phalanx.sim.faults import HOUR_S, Fault
from phalanx.sim.scene import Scene, Shape, draw_elastic_shape, draw_shape
from phalanx.sim.slot_faults import draw_elastic

CALM_S = 24 * HOUR_S
"""After the last fault is over, a job has come to rest within this time."""


REST_S = 3 * HOUR_S
"""After its end a job is watched for so long at least."""
STEPS_MAX = 100_000
"""Forty times what a job of an hour takes."""


@dataclass(frozen=True)
class Options:
    """What is not left to the seed. None: it is."""

    kinds: tuple[str, ...] | None = None
    faults: tuple[Fault, ...] | None = None
    shape: Shape | None = None
    elastic: bool = False
    """A job with a range of nodes, and faults of single slots."""
    prepare: Callable[[Scene], None] | None = None
    """Called before the first step, for scenarios that arrange something by hand."""


@dataclass(frozen=True)
class Outcome:
    """What came of one seed."""

    seed: object
    story: tuple[tuple[int, str], ...]
    violations: tuple[str, ...]
    counts: Counter[str]
    faults: tuple[Fault, ...]
    elastic: bool = False

    @property
    def history(self) -> str:
        """Digest of the whole story: equal for equal seeds, on every machine."""
        text = "\n".join(f"{at} {line}" for at, line in self.story)
        return hashlib.sha256(text.encode()).hexdigest()

    def told(self) -> str:
        """The story as lines for people, and the command that plays it again."""
        lines = [f"{at / SECOND_NS:10.3f} {line}" for at, line in self.story]
        lines += [f"violated: {text}" for text in self.violations]
        flag = " --elastic" if self.elastic else ""
        lines.append(f"again: python -m phalanx.sim.run {self.seed} --story{flag}")
        return "\n".join(lines)


def simulate(seed: object, options: Options | None = None) -> Outcome:
    """Play one seed to its end and check every promise on the way."""
    options = options or Options()
    shape = options.shape or (draw_elastic_shape if options.elastic else draw_shape)(seed)
    faults = options.faults
    if faults is None and options.elastic and options.kinds is None:
        faults = draw_elastic(seed)
    elif faults is None:
        faults = faults_of.draw(seed, options.kinds)
    scene = Scene(seed, shape)
    if options.prepare is not None:
        options.prepare(scene)
    if any(fault.kind == "clock_skew" for fault in faults):
        scene.skews = lambda host: int(scene.stream("skew", host).uniform(-9, 9) * HOUR_S * 1e9)
    faults_of.plan(scene, faults)
    scene.begin()
    last_s = max((f.at_s + max(f.for_s, 3.1 * HOUR_S) for f in faults), default=0.0)
    try:
        scene.loop.run(last_s + CALM_S, lambda: _is_over(scene, last_s))
        scene.checks.at_the_end()
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        scene.checks.broken(f"{type(error).__name__} in {at.name}, line {at.lineno}: {error}")
    scene.checks.counts["steps"] += scene.loop.steps
    return Outcome(
        seed,
        tuple(scene.story),
        tuple(scene.checks.violations),
        scene.checks.counts,
        faults,
        options.elastic,
    )


def _is_over(scene: Scene, last_s: float) -> bool:
    """Swept and watched; or a tight circle of events, broken off and told as a job without end."""
    if scene.loop.steps > STEPS_MAX:
        return True
    record = scene.checks.record
    if record is None or record.ended_ns is None:
        return False
    rested_s = (scene.loop.now_ns + EPOCH_NS - record.ended_ns) / SECOND_NS
    is_swept = record.sweeps >= 2 or rested_s > 4 * REST_S
    return is_swept and scene.loop.now_s > last_s and rested_s > REST_S


def shrink(outcome: Outcome, options: Options | None = None) -> Outcome:
    """The same violation with as few faults as can be: delta debugging over the schedule."""
    options = options or Options()
    best, width = outcome, max(1, len(outcome.faults) // 2)
    while best.faults:
        smaller = _without_some(best, options, width)
        if smaller is not None:
            best = smaller
            width = min(width, max(1, len(best.faults) // 2))
        elif width > 1:
            width //= 2
        else:
            break
    return best


def _without_some(outcome: Outcome, options: Options, width: int) -> Outcome | None:
    faults = outcome.faults
    for start in range(0, len(faults), width):
        fewer = faults[:start] + faults[start + width :]
        tried = simulate(outcome.seed, replace(options, faults=fewer))
        if tried.violations:
            return tried
    return None


def main(argv: list[str]) -> int:
    """Exit code 1 when a promise was broken."""
    options = Options(elastic="--elastic" in argv)
    outcome = simulate(int(argv[0]), options)
    if outcome.violations and "--whole" not in argv:
        outcome = shrink(outcome, options)
    if outcome.violations or "--story" in argv:
        print(outcome.told())
    else:
        print(f"seed {argv[0]}: {outcome.story[-1][1]}; every promise was kept")
    return 1 if outcome.violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
