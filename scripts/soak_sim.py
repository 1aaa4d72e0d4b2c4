"""Thousands of seeded schedules: `python scripts/soak_sim.py --first 0 --count 10000`.

With `--folder` it is resumable: what is done is kept in `<folder>/done.json`, the same command goes
on where it was stopped, another range adds to it (remove the folder after a change of the core).
Every violation is shrunk and its story printed. Exit code 1 when a promise was broken.
`--elastic` plays jobs with a range of nodes; give them a folder of their own.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from phalanx.sim.run import Options, shrink, simulate

CHUNK = 50


def play(
    span: tuple[int, int], *, elastic: bool = False
) -> tuple[int, int, dict[str, int], list[tuple[int, str, str]]]:
    """Seeds [first, last): (first, last, counts, [(seed, violation, story)])."""
    counts: Counter[str] = Counter()
    broken = []
    options = Options(elastic=elastic)
    for seed in range(*span):
        outcome = simulate(seed, options)
        counts.update(outcome.counts)
        if outcome.violations:
            small = shrink(outcome, options)
            broken.append((seed, outcome.violations[0], small.told()))
    return (*span, dict(counts), broken)


class Ledger:
    """What has been played, in one file."""

    def __init__(self, folder: Path | None) -> None:
        self.file = folder / "done.json" if folder is not None else None
        kept = {}
        if self.file is not None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
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
            print(f"seed {seed}: {violation}\n{story}", flush=True)
        self.save()

    def save(self) -> None:
        """Keep what is done, if anywhere."""
        if self.file is None:
            return
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
        passes, decisions = self.counts["passes"], self.counts["decisions"]
        print(f"{played} schedules, {len(self.broken)} with a violation")
        print(
            f"{played / minutes:.0f} schedules, {decisions / minutes:.0f} decisions that changed "
            f"the record, {passes / minutes:.0f} reconcile passes a minute"
        )
        sizes = ", ".join(f"{k} {self.counts[k]}" for k in ("shrinks", "growths", "swaps"))
        print(f"sizes: {sizes}")
        for start in ("fault ", "end ", "reason "):
            found = [
                f"{k[len(start) :]} {n}"
                for k, n in sorted(self.counts.items())
                if k.startswith(start)
            ]
            print(f"{start.strip()}s: {', '.join(found)}")


def run(
    chunks: list[tuple[int, int]], workers: int, ledger: Ledger, *, elastic: bool = False
) -> int:
    """Number of seeds of the whole ledger that broke a promise."""
    before, begun = ledger.seconds, time.monotonic()
    with ProcessPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
        one = partial(play, elastic=elastic)
        for told in pool.map(one, chunks) if pool is not None else map(one, chunks):
            ledger.seconds = before + time.monotonic() - begun
            ledger.add(told)
    ledger.report()
    return len(ledger.broken)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--elastic", action="store_true")
    asked = parser.parse_args()
    ledger = Ledger(asked.folder)
    chunks = ledger.left(asked.first, asked.first + asked.count)
    return 1 if run(chunks, asked.workers, ledger, elastic=asked.elastic) else 0


if __name__ == "__main__":
    sys.exit(main())
