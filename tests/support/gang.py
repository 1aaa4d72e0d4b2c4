"""A real job with real processes, and ways to hurt it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phalanx.checkpoint.find import read_head
from phalanx.names import Keys
from phalanx.state.gang import Head
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from tests.support.waiting import until

TRAIN = Path(__file__).with_name("train_steps.py")
COUNT = Path(__file__).with_name("count_steps.py")
PHALANX = (str(Path(sys.executable).with_name("phalanx")),)


@dataclass(frozen=True)
class Line:
    """One finished step as a rank wrote it down."""

    attempt: int
    step: int
    at_ns: int
    loss: str
    """Hexadecimal, so that equal means bit-equal."""
    resumed: int


class Gang:
    """One job under a root of its own."""

    def __init__(
        self,
        folder: Path,
        *,
        nodes: int = 2,
        ranks: int = 1,
        steps: int = 60,
        step_s: float = 0.02,
        every: int = 5,
        extra: str = "",
        script: Path = TRAIN,
        command: Sequence[str] = (),
        root: Path | None = None,
        checkpoint: str = "",
    ) -> None:
        """`command` replaces the one that runs `script` as `train.py`; `extra` and `checkpoint`
        are YAML.
        """
        self.folder = folder
        self.root = root or folder / "root"
        self.source = folder / "source"
        self.source.mkdir(parents=True)
        (self.source / "train.py").write_text(script.read_text())
        words = list(command) or [*interpreter_for(script), "train.py", str(steps), str(step_s)]
        saves = checkpoint or f"{{every: {every} steps, keep: 3}}"
        self.file = self.source / "job.yaml"
        self.file.write_text(
            f"kind: train\nname: gang\ncommand: {json.dumps(words)}\nnodes: {nodes}\n"
            f"ranks_per_node: {ranks}\ntotal_steps: {steps}\n"
            f"checkpoint: {saves}\n{extra}"
        )
        self.world_size = nodes * ranks
        self.steps = steps
        self.job = ""

    def start(self) -> Gang:
        """Submit and come back at once."""
        self.job = self.call("run", str(self.file), "--detach")["job"]
        return self

    def follow(self) -> Terminal:
        """Submit and keep a terminal on it."""
        terminal = Terminal(self)
        self.job = terminal.first_line()
        return terminal

    def call(self, *words: str, code: int | None = 0) -> dict:
        """One command with `--json`; its answer."""
        done = self.run(*words, "--json")
        assert code is None or done.returncode == code, (words, done.stdout, done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def refused(self, code: int, *words: str) -> str:
        """The one line on standard error of a command that must be refused with this code."""
        done = self.run(*words)
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        lines = done.stderr.splitlines()
        assert len(lines) == 1, lines
        assert done.stdout == ""
        return lines[0]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command as a person would type it."""
        return subprocess.run(
            [*PHALANX, *words, "--root", str(self.root)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def status(self) -> dict:
        """`phalanx status --json`."""
        return self.call("status", self.job)

    def wait(self, timeout_s: float = 60) -> dict:
        """The status once the job has ended."""
        self.run("wait", self.job, "--timeout", str(timeout_s))
        return self.status()

    def why(self) -> dict:
        """`phalanx why --json`."""
        return self.call("why", self.job)

    def causes(self) -> list[tuple[str, int | None, int | None]]:
        """(class, slot, rank) of the first cause of every attempt that ended."""
        firsts = [past["first_cause"] for past in self.status()["history"]]
        return [(first["class"], first["slot"], first["rank"]) for first in firsts]

    def object(self, inside: str) -> Path:
        """A path below the job's folder in the root."""
        return self.root / "jobs" / self.job / inside

    def head(self) -> Head | None:
        """HEAD as it is now."""
        return read_head(Store(FilesObjects.open(self.root), "tests"), Keys(self.job))

    def lines(self, rank: int) -> list[Line]:
        """What a rank wrote down, in order; a line cut short by a kill is left out."""
        path = self.object(f"files/steps.{rank}")
        found = []
        for text in path.read_text().splitlines() if path.exists() else []:
            words = text.split()
            if len(words) == 6 and words[5] == ".":
                found.append(
                    Line(int(words[0]), int(words[1]), int(words[2]), words[3], int(words[4]))
                )
        return found

    def losses(self, rank: int) -> dict[int, str]:
        """Loss of every step; the last execution of a step counts, all must agree."""
        found: dict[int, str] = {}
        for line in self.lines(rank):
            before = found.setdefault(line.step, line.loss)
            assert before == line.loss, f"rank {rank}, step {line.step}: {before} then {line.loss}"
        return found

    def reach(self, step: int, *, attempt: int | None = None, timeout_s: float = 60) -> None:
        """Wait until every rank has finished a step (in an attempt)."""

        def there() -> bool:
            return all(
                any(
                    line.step >= step and (attempt is None or line.attempt >= attempt)
                    for line in self.lines(rank)
                )
                for rank in range(self.world_size)
            )

        until(there, timeout_s)

    def rank_pid(self, rank: int) -> int:
        """Process of a rank now."""
        path = self.object(f"files/pid.{rank}")
        return int(path.read_text())

    def agent_pid(self, slot: int) -> int:
        """Process of the agent of a slot now."""
        tasks = self.status()["tasks"]
        return int(next(t["id"] for t in tasks if t["slot"] == slot))

    def warm_pid(self, slot: int) -> int:
        """Warm parent of a slot."""
        agent = self.agent_pid(slot)
        return next(p for p in children(agent) if "phalanx.agent.warm" in cmdline(p))

    def controller_pid(self) -> int:
        """The controller that wrote the last beat."""
        beat = self.object("controller").read_bytes()
        return int(json.loads(beat)["pid"])

    def processes(self) -> list[int]:
        """Every process of this root, controllers included."""
        return [pid for pid in all_pids() if str(self.root) in environment(pid) + cmdline(pid)]

    def assert_nothing_lives(self) -> None:
        """No process of the job after its end."""
        until(lambda: not self.processes(), 20)

    def assert_whole(self, undisturbed: dict[int, dict[int, str]]) -> None:
        """Every rank did every step, with the losses of an undisturbed run."""
        for rank in range(self.world_size):
            assert sorted(self.losses(rank)) == list(range(self.steps))
            assert self.losses(rank) == undisturbed[rank]

    def kill_all(self) -> None:
        """For teardown after a failed test."""
        for pid in self.processes():
            kill(pid, signal.SIGKILL)


class Terminal:
    """`phalanx run` in a session of its own, as if typed into a terminal."""

    def __init__(self, gang: Gang) -> None:
        words = [*PHALANX, "run", str(gang.file), "--root", str(gang.root)]
        self.process = subprocess.Popen(
            # What a shell runs in the background ignores Ctrl-C, and so does all it starts.
            ["env", "--default-signal=INT", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.pid = self.process.pid

    def first_line(self) -> str:
        """The first line on standard output: the job's id."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def said(self, word: str) -> str:
        """The next line on standard error that holds a word."""
        assert self.process.stderr is not None
        seen = []
        for line in self.process.stderr:
            seen.append(line)
            if word in line:
                return line
        raise AssertionError(f"{word!r} was never said: {seen}")

    def ctrl_c(self) -> None:
        """What the terminal sends on Ctrl-C."""
        kill(self.pid, signal.SIGINT)

    def end(self, timeout_s: float = 60) -> tuple[int, str, str]:
        """Exit code, and the rest of what it printed."""
        out, err = self.process.communicate(timeout=timeout_s)
        return self.process.returncode, out, err


def interpreter_for(script: Path) -> list[str]:
    """Scripts without torch need no warm parent: `env python` is no plain Python command."""
    return ["python"] if script == TRAIN else ["env", "python"]


def kill(pid: int, signum: int = signal.SIGKILL) -> None:
    """A signal; a process that is gone is no error."""
    try:
        os.kill(pid, signum)
    except ProcessLookupError:
        return


def all_pids() -> list[int]:
    """Every process of this machine but ourselves."""
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]


def cmdline(pid: int) -> str:
    """Command line of a process; '' when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def environment(pid: int) -> str:
    """Environment of a process; '' when it is gone or dead."""
    try:
        return (
            Path(f"/proc/{pid}/environ").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    except OSError:
        return ""


def children(pid: int) -> list[int]:
    """Direct children."""
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
