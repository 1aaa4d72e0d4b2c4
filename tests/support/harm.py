"""Random harm to real jobs, from a seed: for the tests of kills and for `make soak`."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

from phalanx.checkpoint.reading import problems
from tests.support.gang import Gang, Terminal, kill
from tests.support.saves import Saves
from tests.support.waiting import until

STEPS = 200
"""Steps of the four-rank job whose undisturbed losses are known."""
KILLS = ("rank", "ranks", "agent", "warm", "controller", "terminal", "controller and terminal")
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


def killed_writer(seed: int, folder: Path) -> dict:
    """Writers of checkpoints are killed over and over: HEAD never goes back and always reads."""
    chance = Random(seed)
    saves = Saves(folder)
    newest = (-1, "")
    for _ in range(5):
        words = [sys.executable, "-m", "tests.support.save_forever", str(folder)]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(chance.uniform(0, 0.2))
            writer.kill()
        head = saves.head()
        assert head is not None
        assert head.checkpoint is not None
        assert (head.attempt, head.checkpoint) > newest
        newest = (head.attempt, head.checkpoint)
        wrong = problems(saves.store, saves.keys.checkpoint(head.checkpoint), head.checkpoint)
        assert not wrong, wrong
    return {"kind": "save", "moment": newest[1]}
