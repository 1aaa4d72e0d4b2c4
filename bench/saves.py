"""Durable saves and the stall of training, beside raw writes, torch.save and DCP."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import place, stats
from bench.raw import Trials, say
from bench.stats import Goal, Row

MIB = 1 << 20
SIZES = {"256MiB": 256 * MIB, "2GiB": 2048 * MIB}
SYSTEMS = ("raw", "phalanx", "torch.save", "dcp", "clone", "dcp-async")
PARTS = ("copy_s", "blob_s", "commit_s", "fsync_s", "hash_alone_s")


def run() -> tuple[list[Row], list[str]]:
    """All rounds not done yet; rows and notes."""
    trials = Trials("saves")
    for case in ["256MiB"] if place.QUICK else list(SIZES):
        count = place.trials(15 if case == "256MiB" else 7, 4)
        todo = [r for r in range(count) if not all(trials.has(case, s, r) for s in SYSTEMS)]
        if todo:
            _rounds(trials, case, todo)
    return rows(trials), notes(trials)


def _rounds(trials: Trials, case: str, todo: list[int]) -> None:
    place.WORK.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="w", dir=place.WORK))
    words = [sys.executable, str(place.BODIES / "save_body.py"), str(folder), str(SIZES[case])]
    try:
        with subprocess.Popen(
            [*words, *map(str, todo)],
            stdout=subprocess.PIPE,
            text=True,
            env=place.environment(),
        ) as child:
            assert child.stdout is not None
            for line in child.stdout:
                told = json.loads(line)
                system, trial = told.pop("system"), told.pop("trial")
                if not trials.has(case, system, trial):
                    trials.add(case, system, trial, **told)
                    say(f"  {case}, {system}, round {trial}: {told}")
        if child.returncode:
            raise RuntimeError(f"saves, {case}: exit code {child.returncode}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def rows(trials: Trials) -> list[Row]:
    """Every row that the rounds so far give."""
    found = []
    for case in SIZES:
        ours = trials.values(case, "phalanx", "seconds")
        if not ours:
            continue
        stall = trials.values(case, "phalanx", "copy_s")
        asynchronous = trials.values(case, "dcp-async", "stall_s")

        def peer(system: str, case: str = case) -> list[float]:
            return trials.values(case, system, "seconds")

        found += [
            stats.ratio_row(f"saves.{case}.vs_raw", ours, peer("raw"), "s", _most(1.15)),
            stats.ratio_row(f"saves.{case}.vs_torch", ours, peer("torch.save"), "s", None),
            stats.ratio_row(f"saves.{case}.vs_dcp", ours, peer("dcp"), "s", _least(3.7)),
            stats.ratio_row(f"saves.{case}.stall_vs_clone", stall, peer("clone"), "s", _most(1.5)),
            stats.ratio_row(f"saves.{case}.stall_vs_dcp_async", stall, asynchronous, "s", None),
        ]
    return found


def _most(limit: float) -> Goal:
    return Goal("ours/peer", limit)


def _least(limit: float) -> Goal:
    return Goal("peer/ours", limit, is_least=True)


def notes(trials: Trials) -> list[str]:
    """Where the time of our save goes: medians."""
    found = [
        "A durable save: copy to host memory (copy), shard written, hashed in a second thread and, "
        "once it is written, in both, fsynced and linked, then the part (blob), manifest and HEAD "
        "(commit). `fsync` is the share of all fsyncs in blob and commit; `hash alone` is SHA-256 "
        "of the same bytes in one thread with nothing else going on.",
        "",
        "| size | raw write / fsync | copy | blob | commit | fsync | hash alone |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for case in SIZES:
        if not trials.of(case, "phalanx"):
            continue
        cells = [f"{_middle(trials, case, 'raw', 'write_s')} / "
                 f"{_middle(trials, case, 'raw', 'fsync_s')}"]  # fmt: skip
        cells += [_middle(trials, case, "phalanx", part) for part in PARTS]
        found.append(f"| {case} | {' | '.join(cells)} |")
    return found


def _middle(trials: Trials, case: str, system: str, name: str) -> str:
    values = trials.values(case, system, name)
    return f"{1e3 * stats.median(values):.0f} ms" if values else "-"
