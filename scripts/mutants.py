"""Sixty mechanical mutants of the core: which of them do the tests and the simulator catch?

    python scripts/mutants.py            all, printing each as it is tried
    python scripts/mutants.py 3 17      only these

Each mutant is one replacement in one file, tried in a copy of the source under `build/mutants`
with the tests of the core first (quick) and then with seeds of the simulator. A mutant that
nothing catches is listed at the end, with the reason where it changes nothing. A run of all
writes `soak/mutants.json`. Exit code 1 when fewer than 90 % are caught, or when a mutant no
longer fits its file.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPY = ROOT / "build" / "mutants"
RESULTS = ROOT / "soak" / "mutants.json"
TESTS = (
    "tests/unit/reconcile",
    "tests/unit/agent/test_protocol.py",
    "tests/unit/checkpoint/test_commit.py",
    "tests/properties/test_reconcile.py",
    "tests/properties/test_protocol.py",
    "tests/sim/test_scenarios.py",
)
SEEDS = 120
PLAY = """
import sys
from phalanx.sim.run import Options, simulate
for seed in range(int(sys.argv[1])):
    outcome = simulate(seed, Options(elastic=seed % 3 == 2))
    if outcome.violations:
        sys.exit(f"seed {seed}: {outcome.violations[0]}")
"""


@dataclass(frozen=True)
class Mutant:
    """`old` occurs in `file`; its first occurrence becomes `new`."""

    file: str
    old: str
    new: str
    same: str = ""
    """Why the program does the same with it, where it does: nothing can catch that."""


R, P, C, E = "reconcile/", "agent/protocol.py", "checkpoint/commit.py", "reconcile/elastic.py"
MUTANTS = (
    Mutant(R + "buckets.py", "if s.launched_ns is not None", "if True"),
    Mutant(
        R + "buckets.py", 'return "stray" if task.is_alive', 'return "stray" if not task.is_alive'
    ),
    Mutant(
        R + "buckets.py",
        'if seat.seen_alive:\n        return "vanished"',
        'if seat.seen_alive:\n        return "hidden"',
    ),
    Mutant(
        R + "buckets.py", "waited_s > timing.launch_grace_s", "waited_s < timing.launch_grace_s"
    ),
    Mutant(R + "buckets.py", "for t in self.stopped) |", "for t in self.stopping) |"),
    Mutant(
        R + "ending.py",
        "record.stop is None or is_ending or",
        "record.stop is None or",
    ),
    Mutant(R + "ending.py", "if actions and not is_zombie:", "if not is_zombie:"),
    Mutant(R + "ending.py", "if actions and not is_zombie:", "if actions:"),
    Mutant(R + "ending.py", "phase=record.ending,", "phase=Phase.FAILED,"),
    Mutant(R + "ending.py", "sweeps=record.sweeps + 1", "sweeps=record.sweeps + 2"),
    Mutant(R + "ending.py", "if record.sweeps >= 2:", "if record.sweeps >= 1:"),
    Mutant(R + "ending.py", "replace(wait.record, sweeps=0), actions", "wait.record, actions"),
    Mutant(R + "ending.py", "for task in look.buckets.alive)", "for task in look.buckets.running)"),
    Mutant(
        R + "success.py", "len(look.done_slots) < len(record.active)", "len(look.done_slots) < 1"
    ),
    Mutant(R + "success.py", "len(look.ends) < len(record.active)", "not look.ends"),
    Mutant(R + "success.py", "e.finished or e.slot in look.done_slots", "True"),
    Mutant(R + "success.py", "named[0] < last", "named[0] > last"),
    Mutant(R + "success.py", "or head.attempt != record.attempt", ""),
    Mutant(R + "look.py", "if e.attempt == self.record.attempt and (", "if ("),
    Mutant(R + "look.py", "and (e.slot, e.incarnation) in seated", ""),
    Mutant(R + "look.py", "e.outcome is Outcome.SUCCEEDED)", "e.outcome is not Outcome.FAILED)"),
    Mutant(R + "look.py", "ending=ending,", ""),
    Mutant(
        R + "failure.py",
        "if e.outcome is not Outcome.SUCCEEDED)",
        "if e.outcome is Outcome.FAILED)",
    ),
    Mutant(R + "failure.py", "if t.slot not in look.done_slots]", "]"),
    Mutant(
        R + "failure.py", "for seat in look.buckets.vanished", "for seat in look.buckets.missing"
    ),
    Mutant(R + "failure.py", "< look.timing.settle_s", "< 0"),
    Mutant(R + "failure.py", "if all(world.has(s.slot", "if any(world.has(s.slot"),
    Mutant(R + "restart.py", "attempt=record.attempt + 1", "attempt=record.attempt + 2"),
    Mutant(
        R + "seating.py",
        "fresh_seat(seat) if slot in change.renew",
        "fresh_seat(seat) if slot not in change.renew",
    ),
    Mutant(
        R + "seating.py",
        "        seat.incarnation + 1,\n        parked=seat.parked",
        "        seat.incarnation,\n        parked=seat.parked",
    ),
    Mutant(R + "restart.py", "spent >= rule.limit", "spent > rule.limit"),
    Mutant(
        R + "restart.py",
        "fruitless >= record.plan.no_progress",
        "fruitless > record.plan.no_progress",
    ),
    Mutant(R + "restart.py", "spent.get(failure.value, 0) + 1", "1"),
    Mutant(R + "restart.py", 'if rule.do == "fail":', 'if rule.do == "never":'),
    Mutant(R + "restart.py", "(*unreadable, *sorted(named))", "unreadable"),
    Mutant(R + "restart.py", "backoff_until_ns=None,\n", ""),
    Mutant(
        R + "restart.py",
        "if now != look.record.head_at_open:",
        "if now == look.record.head_at_open:",
    ),
    Mutant(R + "launch.py", "if s.slot in alive and not s.seen_alive", "if not s.seen_alive"),
    Mutant(
        R + "launch.py",
        "seats = tuple(asked.get(s.slot, s) for s in record.seats)",
        "seats = record.seats",
    ),
    Mutant(R + "launch.py", "& {s.slot for s in look.buckets.missing}", "& set()"),
    Mutant(R + "deadlines.py", "if look.observed.world is not None:\n        return None", "pass"),
    Mutant(P, "if not is_seated(me, record):", "if False:"),
    Mutant(P, "me.token == names.token(", "me.incarnation >= 0 or me.token == names.token("),
    Mutant(P, "if head is not None and head.attempt > attempt:", "if False:"),
    Mutant(P, "if head is None or head.attempt < attempt:", "if head is None:"),
    Mutant(P, "if (m.slot, m.incarnation) in seats]", "]"),
    Mutant(P, "if not world.has(me.slot, me.incarnation):", "if False:"),
    Mutant(
        P,
        "if me.ranks is Ranks.NONE:\n        return StartRanks",
        "if me.ranks is not Ranks.RUNNING:\n        return StartRanks",
        same="the agent has returned before for ranks that are stopping or have ended",
    ),
    Mutant(
        P,
        "if me.attempt != record.attempt:\n        if me.ranks in (Ranks.RUNNING, Ranks.STOPPING):",
        "if me.attempt != record.attempt:\n        if False:",
    ),
    Mutant(C, "if head.attempt > attempt:", "if False:"),
    Mutant(C, "(order_of(head.checkpoint) or order) >= order", "False"),
    Mutant(C, "set(range(world_size)) -", "set(range(world_size - 1)) -"),
    Mutant(C, "SwapHead(Head(attempt, name))", "SwapHead(Head(attempt + 1, name))"),
    Mutant(E, "if not absent or present < record.plan.fewest:", "if not absent:"),
    Mutant(E, "if look.age_s(record.quorum_ns) < limit_s:", "if look.age_s(record.quorum_ns) < 0:"),
    Mutant(E, "is_new = now != record.growing and head", "is_new = head"),
    Mutant(
        E, "if not found or look.age_s(record.resized_ns) < grow_after_s(look):", "if not found:"
    ),
    Mutant(R + "seating.py", "if left > record.plan.fewest and", "if"),
    Mutant(R + "seating.py", "return 1 if is_steady and", "return 1 if not is_steady and"),
    Mutant(
        R + "seating.py", "if task is None or task.state is not TaskState.RUNNING:", "if False:"
    ),
    Mutant(R + "pausing.py", "attempt=record.attempt + 1", "attempt=record.attempt"),
    Mutant(R + "pausing.py", "last_save=True", "last_save=False"),
)


def fits(mutant: Mutant) -> bool:
    """Whether its text is still there."""
    return mutant.old in (ROOT / "src" / "phalanx" / mutant.file).read_text()


def caught_by(mutant: Mutant) -> str:
    """What caught it, one line; empty when nothing did."""
    shutil.rmtree(COPY, ignore_errors=True)
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", COPY / "src", ignore=skip)
    file = COPY / "src" / "phalanx" / mutant.file
    file.write_text(file.read_text().replace(mutant.old, mutant.new, 1))
    env = {**os.environ, "PYTHONPATH": f"{COPY / 'src'}{os.pathsep}{ROOT}"}
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *TESTS]
    seeds = [sys.executable, "-c", PLAY, str(SEEDS)]
    for words in (pytest, seeds):
        try:
            done = subprocess.run(
                words, cwd=ROOT, env=env, capture_output=True, text=True, timeout=600
            )
        except subprocess.TimeoutExpired:
            return "it never ends"
        if done.returncode:
            return _last_line(done.stdout + done.stderr)
    return ""


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith(("FAILED", "seed", "ERROR"))]
    return (lines or text.splitlines() or ["it does not start"])[-1][:110]


def main(argv: list[str]) -> int:
    chosen = [int(n) for n in argv] or list(range(len(MUTANTS)))
    missed, unfit = [], []
    for n in chosen:
        mutant = MUTANTS[n]
        if not fits(mutant):
            unfit.append(n)
            print(f"{n:3} {mutant.file}: its text is gone: {mutant.old[:60]!r}", flush=True)
            continue
        by = caught_by(mutant)
        missed += [] if by else [n]
        print(f"{n:3} {mutant.file}: {by or 'MISSED ' + repr(mutant.new[:60])}", flush=True)
    shutil.rmtree(COPY, ignore_errors=True)
    tried = len(chosen) - len(unfit)
    print(f"{tried - len(missed)} of {tried} mutants are caught; missed: {missed or 'none'}")
    reasons = {n: MUTANTS[n].same or "no test catches it" for n in missed}
    for n, reason in reasons.items():
        print(f"{n:3} {MUTANTS[n].new[:60]!r}: {reason}")
    if not argv:
        told = {
            "date": time.strftime("%Y-%m-%d"),
            "tried": tried,
            "caught": tried - len(missed),
            "missed": {f"{n} {MUTANTS[n].file}": reason for n, reason in reasons.items()},
        }
        RESULTS.write_text(json.dumps(told, indent=2) + "\n")
    return 1 if unfit or len(missed) * 10 > tried else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
