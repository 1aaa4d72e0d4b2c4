"""The long proofs, resumable: `soak.py [PART...] [--count N] [--first SEED] [--again]`.

    sim     seeded schedules of the simulator
    elastic the same of jobs with a range of nodes
    kills   kill -9 of anything at a random moment; losses bit-equal, nothing left
    stops   SIGSTOP of anything at a random moment, SIGCONT a little later
    fuzz    damaged files, 10,000 of every kind that lint, explain and plan read; one line each
    saves   forked writers of checkpoints killed inside the save; what is committed always reads
    watch   writers of every kind killed and stopped while their folder is watched; none is torn

What was done is remembered in `.soak/`: a run that was broken off goes on where it was, and
`--again` starts anew. Totals go to `soak/results.json`. Exit code 1 when anything failed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.support import fuzz, harm  # noqa: E402

STATE = ROOT / ".soak"
RESULTS = ROOT / "soak" / "results.json"
COUNTS = {
    "sim": 100_000,
    "elastic": 10_000,
    "kills": 100,
    "stops": 50,
    "saves": 10_000,
    "fuzz": 250_000,
    "watch": 1_000,
}
STEPS = {"fuzz": fuzz.BLOCK, "saves": 2 * harm.SAVERS["phalanx"], "watch": harm.MOMENTS}
"""What one seed of a part stands for, where that is more than one run."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(COUNTS)}; all")
    parser.add_argument("--count", type=int, help="seeds of each part")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--again", action="store_true", help="forget what was done before")
    args = parser.parse_args()
    unknown = set(args.parts) - set(COUNTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    failed = False
    for part in args.parts or COUNTS:
        if args.again:
            (STATE / f"{part}.jsonl").unlink(missing_ok=True)
            shutil.rmtree(STATE / part, ignore_errors=True)
        run = run_sim if part in ("sim", "elastic") else run_part
        failed |= not run(part, args.first, args.count or COUNTS[part])
    return int(failed)


def run_part(part: str, first: int, count: int) -> bool:
    """Run the seeds that have not passed yet; whether all of them have now."""
    done = passed(part)
    run = runner(part)
    step = STEPS.get(part, 1)
    wanted = range(first, first + count, step)
    for seed in wanted:
        if seed not in done:
            note(part, {"seed": seed, **one(run, seed)})
    rows = [row for row in read(part) if row["seed"] in wanted]
    last = {row["seed"]: row for row in rows}
    failures = sorted(seed for seed, row in last.items() if not row["ok"])
    summarize(part, last, failures, step)
    return not failures


def run_sim(part: str, first: int, count: int) -> bool:
    """Schedules of the simulator, on all cores; `soak_sim.py` remembers which were played."""
    folder = STATE / part
    words = ["--first", first, "--count", count, "--workers", os.cpu_count(), "--folder", folder]
    script = ROOT / "scripts" / "soak_sim.py"
    words += ["--elastic"] if part == "elastic" else []
    done = subprocess.run([sys.executable, str(script), *map(str, words)], check=False)
    kept = json.loads((folder / "done.json").read_text())
    counts, minutes = kept["counts"], max(kept["seconds"] / 60, 1e-9)
    runs = sum(last - first for first, last in kept["spans"])
    rates = {"schedules": runs, **{word: counts[word] for word in ("decisions", "passes")}}
    record(
        part,
        {
            "runs": runs,
            "failed_seeds": sorted(seed for seed, _ in kept["broken"]),
            "seeds": [min(span[0] for span in kept["spans"]), max(s[1] for s in kept["spans"]) - 1],
            "per_minute": {word: round(number / minutes) for word, number in rates.items()},
            "counts": counts,
        },
    )
    return done.returncode == 0


def one(run: Callable[[int, Path], dict], seed: int) -> dict:
    """One seed; a failure keeps its folder and says so."""
    folder = Path(tempfile.mkdtemp(prefix=f"phalanx-soak-{seed}-"))
    began = time.monotonic()
    try:
        row = {"ok": True, **run(seed, folder / "run")}
        shutil.rmtree(folder, ignore_errors=True)
    except Exception as error:
        row = {"ok": False, "error": f"{type(error).__name__}: {error}"[:500], "kept": str(folder)}
        traceback.print_exc()
    return {**row, "seconds": round(time.monotonic() - began, 1)}


def runner(part: str) -> Callable[[int, Path], dict]:
    """What runs one seed of a part in a folder."""
    if part == "fuzz":
        return fuzz.fuzzed
    if part == "watch":
        return harm.killed_watched
    if part == "saves":
        return harm.killed_savers
    losses = undisturbed()
    run = harm.killed_run if part == "kills" else harm.stopped_run
    return lambda seed, folder: run(seed, folder, losses)


def undisturbed() -> harm.Losses:
    """Losses of the four-rank job, computed once and kept."""
    kept = STATE / "undisturbed.json"
    if not kept.exists():
        STATE.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            kept.write_text(json.dumps(harm.undisturbed_losses(Path(folder) / "run")))
    found = json.loads(kept.read_text())
    return {int(rank): {int(s): loss for s, loss in steps.items()} for rank, steps in found.items()}


def read(part: str) -> list[dict]:
    path = STATE / f"{part}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def passed(part: str) -> set[int]:
    return {row["seed"] for row in read(part) if row["ok"]}


def note(part: str, row: dict) -> None:
    """Remember one seed, and show it."""
    STATE.mkdir(exist_ok=True)
    with open(STATE / f"{part}.jsonl", "a") as file:
        file.write(json.dumps(row) + "\n")
    state = "ok" if row["ok"] else f"FAILED {row['error']} (kept: {row['kept']})"
    what = " ".join(str(row[word]) for word in ("kind", "moment") if word in row)
    print(f"{part} seed {row['seed']}: {what} {state} ({row['seconds']} s)", flush=True)


def summarize(part: str, last: dict[int, dict], failures: list[int], step: int) -> None:
    """Totals of one part."""
    rows = list(last.values())
    kinds = dict(Counter(row["kind"] for row in rows if "kind" in row))
    record(
        part,
        {
            "runs": len(last) * step,
            "failed_seeds": failures,
            "kinds": kinds,
            "counts": added([row.get("counts", {}) for row in rows]),
            "seeds": [min(last, default=0), max(last, default=0) + step - 1],
        },
    )
    print(f"{part}: {len(last) * step} runs, {len(failures)} failed, kinds {kinds}")


def record(part: str, totals: dict) -> None:
    """Put the totals of one part beside those of the others."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results[part] = {
        **{word: found for word, found in totals.items() if found or word == "failed_seeds"},
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": f"{os.cpu_count()} CPUs, {platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n")


def added(counts: list[dict[str, int]]) -> dict[str, int]:
    """Sums under each name; zeros stay, since they are what is proved."""
    return {name: sum(one.get(name, 0) for one in counts) for one in counts for name in one}


if __name__ == "__main__":
    sys.exit(main())
