"""How long `phalanx lint` takes, start included: a thousand task definitions; beside cfn-lint."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import place, stats
from bench.raw import Trial, Trials, say
from bench.stats import Goal, Row
from bench.systems import BIN

TEMPLATE = place.BODIES / "gpu_stack.yaml"
DEFINITIONS = 1000
PEER = "cfn-lint"
WANTED = "cfn-lint==1.58.0"
READ = ("lint", "facts", "spec", "cli")
"""Rooms whose code is measured here."""


def run() -> tuple[list[Row], list[str]]:
    """All trials not done yet; rows and notes."""
    trials = Trials("lint", code=code_digest())
    place.WORK.mkdir(parents=True, exist_ok=True)
    phalanx = [str(BIN / "phalanx"), "lint", "--format", "json"]
    with tempfile.TemporaryDirectory(prefix="lint", dir=place.WORK) as folder:
        for number in range(DEFINITIONS):
            text = json.dumps(definition(number), indent=2)
            (Path(folder) / f"{number:04}.taskdef.json").write_text(text)
        once = {"ours": _once([*phalanx, folder])}
        once["ours"](-1)  # byte code and page cache
        trials.interleave("definitions", once, place.trials(21, 7))
    systems = {"ours": _once([*phalanx, str(TEMPLATE)])}
    peer, problem = cfn_lint()
    if peer:
        systems[PEER] = _once([peer, str(TEMPLATE)], fails=(2, 4, 6, 8, 10, 12, 14))
    for function in systems.values():
        function(-1)
    trials.interleave("template", systems, place.trials(21, 7))
    notes = [
        f"{DEFINITIONS} files of one task definition each; the template has "
        f"{TEMPLATE.read_text().count('Type: AWS::')} resources and is clean for both tools.",
        f"Peer: {WANTED} in an environment of its own." if peer else f"No {PEER}: {problem}",
        profile([str(BIN / "phalanx"), "lint", str(TEMPLATE)]),
    ]
    return rows(trials), notes


def rows(trials: Trials) -> list[Row]:
    """Every row that the trials so far give."""
    found: list[Row] = []
    if trials.of("definitions", "ours"):
        values = trials.values("definitions", "ours", "seconds")
        found.append(
            stats.value_row(f"lint.{DEFINITIONS}_task_definitions", values, "s", Goal("ours", 2.0))
        )
    ours = trials.values("template", "ours", "seconds")
    peer = trials.values("template", PEER, "seconds")
    if ours and peer:
        goal = Goal("peer/ours", 10.0, is_least=True)
        found.append(stats.ratio_row("lint.cloudformation", ours, peer, "s", goal))
    return found


def definition(number: int) -> dict[str, Any]:
    """A task definition of a usual size; no two are the same."""
    is_training = number % 3 == 0
    train = ["torchrun", "train.py", "--output_dir", f"s3://runs/{number}", "--num_workers", "4"]
    container = {
        "name": "main",
        "image": f"111122223333.dkr.ecr.eu-west-1.amazonaws.com/app-{number % 40}:1.{number}",
        "essential": True,
        "cpu": 4096,
        "memory": 28000,
        "resourceRequirements": [{"type": "GPU", "value": "1"}] if number % 2 else [],
        "command": train if is_training else ["python", "-m", "app.serve", "--port", "8000"],
        "environment": [{"name": f"VAR_{n}", "value": f"{number}-{n}"} for n in range(12)],
        "secrets": [{"name": "HF_TOKEN", "valueFrom": "arn:aws:ssm:eu-west-1:1:parameter/hf"}],
        "portMappings": [] if is_training else [{"containerPort": 8000, "protocol": "tcp"}],
        "linuxParameters": {"sharedMemorySize": 8192, "initProcessEnabled": True},
        "logConfiguration": {
            "logDriver": "awslogs",
            "options": {"awslogs-group": f"/ecs/app-{number}", "awslogs-region": "eu-west-1"},
        },
    }
    return {
        "family": f"app-{number}",
        "networkMode": "awsvpc",
        "requiresCompatibilities": ["EC2"],
        "containerDefinitions": [container],
        "volumes": [],
    }


def profile(words: list[str]) -> str:
    """Which imports a lint of the template spends its time on, as `-X importtime` counts them."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *words],
        capture_output=True,
        text=True,
        check=False,
        env=place.environment(),
    )
    own: Counter[str] = Counter()
    for line in done.stderr.splitlines():
        cells = line.removeprefix("import time:").split("|")
        if len(cells) == 3 and cells[0].strip().isdigit():
            name = cells[2].strip().split(".")
            own[".".join(name[:2]) if name[0] == "phalanx" else name[0]] += int(cells[0])
    total = sum(own.values())
    if not total:
        return "No profile: -X importtime said nothing."
    shares = ", ".join(f"{name} {us / total:.0%}" for name, us in own.most_common(6))
    return (
        f"Profile of the template's lint: {total / 1e3:.0f} ms are imports (counted with the "
        f"counting's own cost): {shares}; each other one less."
    )


def code_digest() -> str:
    """Names the code that is measured here; the other parts leave these rooms out."""
    digest = hashlib.sha256(TEMPLATE.read_bytes() + Path(__file__).read_bytes())
    source = place.REPOSITORY / "src" / "phalanx"
    for room in READ:
        for path in sorted((source / room).rglob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def cfn_lint() -> tuple[str | None, str]:
    """(the peer's command, ""), or (None, why there is none); made when it is missing."""
    if os.environ.get("PHALANX_BENCH_VENV") == "none":
        return None, "PHALANX_BENCH_VENV=none"
    folder = place.WORK / "cfn-lint-venv"
    command = folder / "bin" / PEER
    if not command.exists():
        say(f"making an environment for {WANTED} (once)")
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", WANTED]
        for words in ([sys.executable, "-m", "venv", str(folder)], pip):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                return None, (done.stderr.strip().splitlines() or ["no message"])[-1]
    return str(command), ""


def _once(words: list[str], fails: tuple[int, ...] = ()) -> Callable[[int], Trial]:
    """`fails` are exit codes that only say that something was found."""

    def once(trial: int) -> Trial:
        began = time.perf_counter()
        done = subprocess.run(
            words,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
            env=place.environment(),
        )
        seconds = time.perf_counter() - began
        if done.returncode not in (0, *fails):
            raise RuntimeError(f"{words[0]}: {done.stderr.decode(errors='replace')[-300:]}")
        return {"seconds": round(seconds, 5)}

    return once
