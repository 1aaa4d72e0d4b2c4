"""The systems under test: start a job of the common body, end it, leave nothing behind."""

from __future__ import annotations

import json
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from bench import lines, procs
from bench.place import BODIES, WORK, environment

BIN = Path(sys.executable).parent
START_LIMIT_S = 90.0


@dataclass(frozen=True)
class Shape:
    """What runs: tasks x ranks, and the body's arguments."""

    tasks: int
    ranks: int
    step_s: float = 0.05
    every: int = 10
    size: str = "small"
    batch: int = 8
    steps: int = 100_000

    @property
    def world(self) -> int:
        """Number of ranks."""
        return self.tasks * self.ranks

    def arguments(self, folder: Path) -> list[str]:
        """Arguments of the body."""
        numbers = (self.steps, self.step_s, self.every, self.size, self.batch)
        return [str(folder), *map(str, numbers)]


class Session(ABC):
    """One job of one system, in a folder of its own."""

    name = ""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        WORK.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="s", dir=WORK))
        self.files = self.folder / "files"
        self.files.mkdir()

    @abstractmethod
    def start(self) -> None:
        """Begin; comes back at once."""

    @abstractmethod
    def settings(self) -> str:
        """How it is run, for the record."""

    def end(self) -> None:
        """End it and remove what it wrote."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def lines(self) -> list[list[lines.Line]]:
        """What all ranks wrote so far."""
        return [lines.read(self.files, rank) for rank in range(self.shape.world)]

    def last_words(self) -> str:
        """The ends of all logs, for a session that did not start."""
        paths = [p for p in self.folder.rglob("*log") if p.is_file()]
        tails = [f"{p.name}: {p.read_text(errors='replace')[-300:]}" for p in paths]
        return " | ".join(" ".join(tail.split()) for tail in tails)

    def reached(self, step: int) -> bool:
        """Whether every rank has finished this step."""
        return all(any(x.kind == "step" and x.step >= step for x in one) for one in self.lines())

    def environment(self) -> dict[str, str]:
        """One thread a rank everywhere; rendezvous on the loopback interface."""
        return {**environment(), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}


class Phalanx(Session):
    """Ours: a detached job under a root of its own."""

    name = "phalanx"

    def start(self) -> None:
        """Submit."""
        source = self.folder / "source"
        source.mkdir()
        shutil.copy(BODIES / "train_body.py", source / "train_body.py")
        words = ["python", "train_body.py", *self.shape.arguments(self.files)]
        (source / "job.yaml").write_text(
            f"kind: train\nname: bench\ncommand: {json.dumps(words)}\n"
            f"nodes: {self.shape.tasks}\nranks_per_node: {self.shape.ranks}\n"
            f"total_steps: {self.shape.steps}\n"
            f"checkpoint: {{every: {self.shape.every} steps, keep: 3}}\n"
        )
        done = self.call("run", str(source / "job.yaml"), "--detach", "--json")
        if done.returncode:
            raise RuntimeError(f"phalanx run: {done.stderr}")
        self.job = str(json.loads(done.stdout)["job"])

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command."""
        return subprocess.run(
            [str(BIN / "phalanx"), *words, "--root", str(self.root)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=self.environment(),
        )

    @property
    def root(self) -> Path:
        """The root of this job."""
        return self.folder / "root"

    def settings(self) -> str:
        """How it is run."""
        return f"phalanx run, nodes: {self.shape.tasks}, ranks_per_node: {self.shape.ranks}"

    def processes(self) -> dict[str, list[int]]:
        """Processes by role: ranks, agents, controller, warm (with the stores forked from it)."""
        ranks = {x.pid for one in self.lines() for x in one}
        found: dict[str, list[int]] = {"ranks": [], "agents": [], "controller": [], "warm": []}
        for pid in procs.marked(str(self.root)):
            command = procs.command(pid)
            if pid in ranks:
                found["ranks"].append(pid)
            elif "phalanx.agent.warm" in command:
                found["warm"].append(pid)
            elif "phalanx.controller" in command:
                found["controller"].append(pid)
            else:
                found["agents"].append(pid)
        return found

    def end(self) -> None:
        """Stop, then make sure."""
        if hasattr(self, "job"):
            self.call("stop", self.job, "--yes")
        procs.until(lambda: not procs.marked(str(self.root)), 10, 0.1)
        procs.kill(procs.marked(str(self.root)))
        super().end()


class Torchrun(Session):
    """Stock torchrun: one agent of this machine starts all ranks."""

    name = "torchrun"
    extra: ClassVar[dict[str, str]] = {}

    def start(self) -> None:
        """Start the launcher in a session of its own."""
        self.port = free_port()
        words = [str(BIN / "torchrun"), *self.flags(), str(BODIES / "train_body.py")]
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [*words, *self.shape.arguments(self.files)],
                env={**self.environment(), **self.extra},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def flags(self) -> list[str]:
        """The launcher's flags; the port keeps it out of the way of others."""
        port = getattr(self, "port", "<free>")
        return [f"--nproc-per-node={self.shape.world}", "--max-restarts=3", f"--master-port={port}"]

    def settings(self) -> str:
        """How it is run."""
        words = [f"{k}={v}" for k, v in self.extra.items()]
        return " ".join([*words, "torchrun", *self.flags()])

    def end(self) -> None:
        """Kill the launcher and whatever it started."""
        below = procs.descendants(self.process.pid)
        procs.kill([self.process.pid, *below])
        self.process.wait()
        super().end()


class TorchrunSeparate(Torchrun):
    """torchrun that gives every attempt a store of its own."""

    name = "torchrun-separate"
    extra: ClassVar[dict[str, str]] = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}


class Ray(Session):
    """Ray Train in an environment of its own."""

    name = "ray"
    python = ""

    def start(self) -> None:
        """Start the driver, which starts a cluster."""
        words = [self.python, str(BODIES / "ray_driver.py"), str(self.shape.world)]
        self.sockets = tempfile.mkdtemp(prefix="br")  # paths of sockets must be short
        quiet = {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONUNBUFFERED": "1"}
        env = {**self.environment(), **quiet, "BENCH_RAY_TMP": self.sockets}
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [*words, *self.shape.arguments(self.files)],
                env=env,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def settings(self) -> str:
        """How it is run."""
        return f"ray[train]: TorchTrainer, num_workers={self.shape.world}, gloo, max_failures=3"

    def end(self) -> None:
        """Ask the driver to shut its cluster down, then make sure."""
        below = procs.descendants(self.process.pid)
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        procs.until(lambda: not [p for p in below if procs.command(p)], 5, 0.1)
        procs.kill(below)
        shutil.rmtree(self.sockets, ignore_errors=True)
        super().end()


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(frozen=True)
class Kill:
    """One trial: a rank was killed."""

    seconds: float
    """Kill to the next finished step of every rank; the limit when that never came."""
    recovered: bool
    killed_ns: int
    old: frozenset[int]


def kill_a_rank(session: Session, seed: int, limit_s: float, warm_up: int = 15) -> Kill:
    """Wait for the job to train, kill -9 one rank at a moment given by the seed, and watch."""
    chance = random.Random(seed)
    if not procs.until(lambda: session.reached(warm_up), START_LIMIT_S, 0.05):
        said = session.last_words()
        raise RuntimeError(f"{session.name} did not start within {START_LIMIT_S:.0f} s: {said}")
    time.sleep(chance.uniform(0.0, 0.5))
    victim = chance.randrange(session.shape.world)
    before = session.lines()
    old = frozenset(line.pid for one in before for line in one)
    killed_ns = time.monotonic_ns()
    procs.kill([before[victim][-1].pid])
    # A pause that is long enough to leave the processors alone, and cannot distort the
    # result: the ranks write the times down themselves.
    procs.until(lambda: lines.recovered_ns(session.lines(), set(old)) is not None, limit_s, 0.1)
    done = lines.recovered_ns(session.lines(), set(old))
    if done is None or done - killed_ns > limit_s * 1e9:
        return Kill(limit_s, False, killed_ns, old)
    return Kill((done - killed_ns) / 1e9, True, killed_ns, old)
