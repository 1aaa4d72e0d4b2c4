"""A root on this machine whose tasks are stand-ins: for the contract suite and the real kills."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from phalanx.backends.local import processes
from phalanx.backends.local.backend import LocalBackend
from phalanx.names import Keys
from phalanx.plan.job import JobPlan
from phalanx.state import codec
from phalanx.state.observed import ObservedTask
from phalanx.state.record import Record, Seat
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id
from phalanx.words import Phase
from tests.support.waiting import until

REPOSITORY = Path(__file__).parents[2]
STANDIN = ("-m", "tests.support.standin_agent")


class LocalPlace:
    """A local backend, and what its surroundings do to it. `Place` of the contract suite."""

    def __init__(self, folder: Path, environ: Mapping[str, str] | None = None) -> None:
        self.root = folder / "root"
        self.standin = self.root / "standin"
        self.standin.mkdir(parents=True)
        self.environ = {**os.environ, "PYTHONPATH": str(REPOSITORY), **(environ or {})}
        self.store = Store(FilesObjects.open(self.root, make=True), writer_id())
        self.plan = JobPlan(name="demo", command=("none",), nodes=4)
        self.backend = self.controller()
        self.jobs: set[str] = set()

    def controller(self) -> LocalBackend:
        """The backend of one more controller."""
        return LocalBackend(self.root, agent=STANDIN, environ=self.environ)

    def submit(self, job: str, *seats: Seat) -> None:
        """Write the record that seats these."""
        self.jobs.add(job)
        record = Record(job=job, plan=self.plan, created_ns=0, seats=seats, phase=Phase.STARTING)
        self._save(record)

    def conclude(self, job: str) -> None:
        """Make the record terminal."""
        found = self.store.read(Keys(job).record)
        assert found is not None
        self._save(replace(codec.loads(Record, found.data), phase=Phase.FAILED))

    def _save(self, record: Record) -> None:
        key = Keys(record.job).record
        found = self.store.read(key)
        version = found.version if found else None
        assert self.store.swap(key, codec.dumps(record), version) is not None

    def finish(self, task: ObservedTask, code: int) -> None:
        """Have the task end by itself."""
        (self.standin / "draft").write_text(str(code))
        (self.standin / "draft").rename(self.standin / f"end-{task.slot}")

    def kill(self, task: ObservedTask) -> None:
        """Have the task die without a word."""
        os.kill(int(task.id), signal.SIGKILL)

    def script(self, text: str) -> None:
        """What every later task runs first."""
        (self.standin / "script.py").write_text(text)

    def start(self, job: str, seat: Seat) -> ObservedTask:
        """Launch, and wait until the task runs."""
        request = self.backend.render(job, self.plan, seat)
        self.backend.launch(request)
        return until(lambda: self.running(job, request.token))

    def running(self, job: str, token: str) -> ObservedTask | None:
        """The task if it runs."""
        tasks = {task.token: task for task in self.backend.observe(job)}
        task = tasks.get(token)
        return task if task is not None and task.state.value in ("running", "stopping") else None

    def marked(self) -> list[processes.Process]:
        """Every living process that carries this root."""
        return [p for p in processes.scan() if p.root == str(self.root) and p.task]

    def said(self, name: str) -> int:
        """A pid that a script wrote into `standin/<name>`."""
        path = self.standin / name
        return int(until(lambda: path.exists() and path.read_text().strip()))

    def close(self) -> None:
        """End whatever still lives."""
        for process in self.marked():
            processes.send(process.identity, signal.SIGKILL)
        for job in self.jobs:
            self.backend.clean(job, self.backend.leftovers(job, ()))
        self.backend.close()
