"""One seed, one history: on every run, under every hash seed; and a failing one shrinks."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from phalanx.sim.run import Options, shrink, simulate
from phalanx.sim.scene import Scene

CODE = "from phalanx.sim.run import simulate; print(simulate(7).history, simulate(8).history)"


def histories(hash_seed: str) -> str:
    env = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_history_replays_under_every_hash_seed() -> None:
    here = f"{simulate(7).history} {simulate(8).history}\n"
    assert histories("0") == histories("4242") == here


def test_seeds_differ() -> None:
    assert simulate(7).history != simulate(8).history


def forbid_kills(scene: Scene) -> None:
    """A promise that is not kept: no rank ever dies."""
    tell = scene.tell

    def told(text: str) -> None:
        tell(text)
        if text.startswith("fault: rank_kill"):
            scene.checks.violations.append("a rank was killed")

    scene.tell = told  # type: ignore[method-assign]


@pytest.fixture
def broken() -> Options:
    return Options(kinds=("rank_kill", "task_kill", "host_loss"), prepare=forbid_kills)


def test_a_broken_schedule_shrinks_to_what_broke_it(broken: Options) -> None:
    first = next(o for o in (simulate(seed, broken) for seed in range(20)) if o.violations)
    small = shrink(first, broken)
    assert [fault.kind for fault in small.faults] == ["rank_kill"]
    assert small.faults[0] in first.faults
    assert small.violations


def test_a_story_ends_with_what_was_broken_and_how_to_play_it_again(broken: Options) -> None:
    first = next(o for o in (simulate(seed, broken) for seed in range(20)) if o.violations)
    lines = first.told().splitlines()
    assert lines[-2] == "violated: a rank was killed"
    assert lines[-1] == f"again: python -m phalanx.sim.run {first.seed} --story"
    times = [float(line.split()[0]) for line in lines if line[0] == " "]
    assert times == sorted(times)
