"""Random harm to real jobs, from a seed: for the tests of kills and for `make soak`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

from tests.support.gang import Gang, Terminal, kill
from tests.support.waiting import until

STEPS = 200
"""Steps of the four-rank job whose undisturbed losses are known."""
KILLS = ("rank", "ranks", "agent", "warm", "controller", "terminal", "controller and terminal")
SAVERS = {"phalanx": 50, "torch.save": 10, "dcp": 10}
"""Trials in a block. A trial of ours kills two writers and the agent that commits, of others one
writer."""
MOMENTS = 250
"""Kills of writers in a block, while their folder is watched."""
Losses = dict[int, dict[int, str]]
"""rank → step → loss, hexadecimal."""


def four_ranks(folder: Path, step_s: float = 0.03) -> Gang:
    """Two tasks of two ranks each."""
    return Gang(folder, nodes=2, ranks=2, steps=STEPS, step_s=step_s)


def undisturbed_losses(folder: Path) -> Losses:
    """The losses of the four-rank job when nothing happens to it."""
    gang = four_ranks(folder, step_s=0)
    try:
        status = gang.start().wait(300)
        assert status["phase"] == "Succeeded", status
        assert status["attempt"] == 0
        gang.assert_nothing_lives()
        return {rank: gang.losses(rank) for rank in range(4)}
    finally:
        gang.kill_all()


def killed_run(seed: int, folder: Path, undisturbed: Losses) -> dict:
    """One job; something of it is killed at a random moment. What was done, for the record."""
    chance = Random(seed)
    kind = KILLS[seed % len(KILLS)]
    gang = four_ranks(folder)
    terminal = gang.follow()
    try:
        moment = wait_for_a_moment(gang, chance)
        harm(gang, terminal, kind, chance)
        ended_as_if_nothing_had_happened(gang, undisturbed)
        return {"kind": kind, "moment": moment, "attempts": gang.status()["attempt"] + 1}
    finally:
        kill(terminal.pid)
        terminal.end()
        gang.kill_all()


def stopped_run(seed: int, folder: Path, undisturbed: Losses) -> dict:
    """One job; a process of it stands still for a while, from a random moment on."""
    chance = Random(seed)
    gang = four_ranks(folder).start()
    try:
        moment = wait_for_a_moment(gang, chance)
        pid = chance.choice(sorted(gang.processes()))
        kill(pid, signal.SIGSTOP)
        time.sleep(chance.uniform(0.1, 4.0))
        kill(pid, signal.SIGCONT)
        ended_as_if_nothing_had_happened(gang, undisturbed)
        return {"kind": "stop", "moment": moment, "attempts": gang.status()["attempt"] + 1}
    finally:
        gang.kill_all()


def wait_for_a_moment(gang: Gang, chance: Random) -> str:
    """A quarter of all moments lie in the start, the others are spread over the steps."""
    if chance.random() < 0.25:
        time.sleep(delay_s := chance.uniform(0, 3))
        return f"{delay_s:.2f} s after the start"
    step = chance.randrange(STEPS - 10)
    with suppress(AssertionError):
        gang.reach(step, timeout_s=120)
    time.sleep(chance.uniform(0, 0.05))
    return f"step {step}"


def harm(gang: Gang, terminal: Terminal, kind: str, chance: Random) -> None:
    """Kill what `kind` names; what does not run yet is waited for."""
    if "rank" in kind:
        ranks = chance.sample(range(4), 2 if kind == "ranks" else 1)
        pids = [until(lambda rank=rank: _try(gang.rank_pid, rank), 120) for rank in ranks]
    elif kind in ("agent", "warm"):
        find = gang.agent_pid if kind == "agent" else gang.warm_pid
        slot = chance.randrange(2)
        pids = [until(lambda: _try(find, slot), 120)]
    else:
        pids = [terminal.pid] if "terminal" in kind else []
        if "controller" in kind:
            pids.append(until(lambda: _try(lambda _: gang.controller_pid(), 0), 120))
    for pid in pids:
        kill(pid)


def _try(find: Callable[[int], int], number: int) -> int:
    try:
        return find(number)
    except (OSError, ValueError, StopIteration):
        return 0


def ended_as_if_nothing_had_happened(gang: Gang, undisturbed: Losses) -> None:
    """Succeeded, every loss as in the undisturbed run, no process left."""
    status = gang.wait(300)
    assert status["phase"] == "Succeeded", status
    gang.assert_whole(undisturbed)
    gang.assert_nothing_lives()


def killed_savers(seed: int, folder: Path) -> dict:
    """A block of trials with killed savers: ours, `torch.save` in place and DCP beside them.

    Raises `AssertionError` when one of ours left anything unreadable, wrong or lost.
    """
    counts: dict[str, int] = {}
    for kind, trials in SAVERS.items():
        words = [sys.executable, "-m", "tests.support.killed_saves"]
        if kind != "phalanx":
            words[-1:] = ["tests.support.killed_peers", kind]
        words += [str(folder / kind), str(trials), str(seed)]
        calm = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        calm["PHALANX_KILL_WITHIN_S"] = "0.15"
        done = subprocess.run(words, capture_output=True, text=True, env=calm)
        assert done.returncode == 0, done.stderr[-2000:]
        found = json.loads(done.stdout.splitlines()[-1])
        counts |= {f"{kind} {word}": number for word, number in found.items()}
    ours = {word: counts[f"phalanx {word}"] for word in ("unreadable", "wrong", "lost")}
    assert not any(ours.values()), ours
    return {"counts": counts}


def killed_watched(seed: int, folder: Path) -> dict:
    """A block of lives of writers of every kind, cut short while their folder is watched.

    Raises `AssertionError` when anything was committed that its writer did not mean.
    """
    folder.mkdir(parents=True)
    words = [sys.executable, "-m", "tests.support.killed_watched"]
    words += [str(folder), str(MOMENTS), str(seed)]
    calm = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(words, capture_output=True, text=True, env=calm)
    assert done.returncode == 0, done.stderr[-2000:]
    return {"kind": "writers", "counts": json.loads(done.stdout.splitlines()[-1])}
