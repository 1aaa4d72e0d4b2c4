"""How long the command line and the agent take to start, in multiples of `python -c pass`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import place, stats
from bench.raw import Trial, Trials
from bench.stats import Goal, Row
from bench.systems import BIN

BARE = "python -c pass"
LIMITS = (("phalanx --help", 7.0), ("phalanx status JOB", 15.0), ("agent imports", 4.5))


def run() -> tuple[list[Row], list[str]]:
    """All trials not done yet; rows and notes."""
    trials = Trials("imports")
    place.WORK.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="i", dir=place.WORK))
    try:
        job = _finished_job(folder)
        commands = {
            BARE: [sys.executable, "-c", "pass"],
            "phalanx --help": [str(BIN / "phalanx"), "--help"],
            "phalanx status JOB": [
                *(str(BIN / "phalanx"), "status", job),
                *("--root", str(folder / "root")),
            ],
            "agent imports": [sys.executable, "-c", "import phalanx.agent.loop"],
        }
        once = {name: _once(words) for name, words in commands.items()}
        for function in once.values():  # byte code and page cache
            function(-1)
        trials.interleave("start", once, place.trials(41, 15))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return rows(trials), [
        f"The peer is `{BARE}` of the same interpreter; JOB has succeeded; byte code is kept."
    ]


def rows(trials: Trials) -> list[Row]:
    """Every row that the trials so far give."""
    bare = trials.values("start", BARE, "seconds")
    return [
        stats.ratio_row(
            f"imports.{name.replace('phalanx ', '').replace(' ', '_')}",
            trials.values("start", name, "seconds"),
            bare,
            "s",
            Goal("ours/peer", limit),
        )
        for name, limit in LIMITS
        if trials.of("start", name)
    ]


def _once(words: list[str]) -> Callable[[int], Trial]:
    def once(trial: int) -> Trial:
        env, quiet, pipe = place.environment(), subprocess.DEVNULL, subprocess.PIPE
        began = time.perf_counter()
        done = subprocess.run(words, stdout=quiet, stderr=pipe, check=False, env=env)
        seconds = time.perf_counter() - began
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr.decode(errors='replace')}")
        return {"seconds": round(seconds, 5)}

    return once


def _finished_job(folder: Path) -> str:
    """A local job that has succeeded."""
    source = folder / "source"
    source.mkdir()
    (source / "job.yaml").write_text(
        'kind: train\nname: look\ncommand: ["true"]\nlauncher: none\nnodes: 1\n'
    )
    words = [str(BIN / "phalanx"), "run", str(source / "job.yaml"), "--detach", "--json"]
    root = ["--root", str(folder / "root")]
    env = place.environment()
    told = subprocess.run([*words, *root], capture_output=True, text=True, check=False, env=env)
    if told.returncode:
        raise RuntimeError(f"phalanx run: {told.stderr}")
    job = str(json.loads(told.stdout)["job"])
    wait = [str(BIN / "phalanx"), "wait", job, "--timeout", "60", *root]
    subprocess.run(wait, capture_output=True, check=True, env=env)
    return job
