"""Thousands of seeded schedules, resumable by seed range: `python scripts/soak_sim.py 0 10000`.

What is done is kept in `build/soak_sim/<revision of the simulator>.json`; the same command goes on
where it was stopped. Every violation is shrunk and its story kept beside it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from phalanx.sim.run import shrink, simulate

CHUNK = 50


def play(span: tuple[int, int]) -> tuple[int, int, dict[str, int], list[tuple[int, str, str]]]:
    """Seeds [first, last): (first, last, counts, [(seed, violation, story)])."""
    counts: Counter[str] = Counter()
    broken = []
    for seed in range(*span):
        outcome = simulate(seed)
        counts.update(outcome.counts)
        if outcome.violations:
            small = shrink(outcome)
            broken.append((seed, outcome.violations[0], small.told()))
    return (*span, dict(counts), broken)


class Ledger:
    """What has been played, in one file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "done.json"
        folder.mkdir(parents=True, exist_ok=True)
        kept = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.spans: list[tuple[int, int]] = [(a, b) for a, b in kept.get("spans", [])]
        self.counts: Counter[str] = Counter(kept.get("counts", {}))
        self.broken: list[tuple[int, str]] = [(s, v) for s, v in kept.get("broken", [])]
        self.seconds: float = kept.get("seconds", 0.0)

    def left(self, first: int, last: int) -> list[tuple[int, int]]:
        """Chunks of the range that were not played yet."""
        done = set(self.spans)
        chunks = [(a, min(a + CHUNK, last)) for a in range(first, last, CHUNK)]
        return [chunk for chunk in chunks if chunk not in done]

    def add(self, told: tuple[int, int, dict[str, int], list[tuple[int, str, str]]]) -> None:
        """One chunk is played."""
        first, last, counts, broken = told
        self.spans.append((first, last))
        self.counts.update(counts)
        for seed, violation, story in broken:
            self.broken.append((seed, violation))
            (self.folder / f"seed-{seed}.txt").write_text(story + "\n")
            print(f"seed {seed}: {violation}", flush=True)
        kept = {
            "spans": self.spans,
            "counts": dict(sorted(self.counts.items())),
            "broken": self.broken,
            "seconds": self.seconds,
        }
        draft = self.file.with_suffix(".new")
        draft.write_text(json.dumps(kept, indent=1))
        draft.replace(self.file)

    def report(self) -> None:
        """Rates, and what was reached."""
        played = sum(b - a for a, b in self.spans)
        minutes = max(self.seconds / 60, 1e-9)
        passes = self.counts["passes"]
        print(f"{played} schedules, {len(self.broken)} with a violation")
        print(f"{played / minutes:.0f} schedules, {passes / minutes:.0f} reconcile passes a minute")
        for start in ("fault ", "end ", "reason "):
            found = [
                f"{k[len(start) :]} {n}"
                for k, n in sorted(self.counts.items())
                if k.startswith(start)
            ]
            print(f"{start.strip()}s: {', '.join(found)}")


def run(first: int, last: int, workers: int, folder: Path) -> int:
    """Number of seeds of the whole ledger that broke a promise."""
    ledger = Ledger(folder)
    before, begun = ledger.seconds, time.monotonic()
    with ProcessPoolExecutor(workers) as pool:
        for told in pool.map(play, ledger.left(first, last)):
            ledger.seconds = before + time.monotonic() - begun
            ledger.add(told)
    ledger.report()
    return len(ledger.broken)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path("build/soak_sim"))
    asked = parser.parse_args()
    return 1 if run(asked.first, asked.last, asked.workers, asked.folder) else 0


if __name__ == "__main__":
    sys.exit(main())
