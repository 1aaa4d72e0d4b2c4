"""A root made by hand: objects exactly as controllers and agents write them, no process at all."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from phalanx.app.root import Root, open_root
from phalanx.checkpoint.manifest import Manifest
from phalanx.names import Keys, checkpoint_name
from phalanx.plan.job import JobPlan
from phalanx.state.codec import dumps
from phalanx.state.gang import Beat, End, Head, LedgerEntry, Member, World
from phalanx.state.record import Cause, PastAttempt, Record, Seat
from phalanx.words import FailureClass, Outcome, Phase

SECOND = 1_000_000_000
T0 = 1_780_000_000 * SECOND

KILLED = Cause(
    FailureClass.KILLED,
    "rank 1 (slot 1) was killed by SIGKILL",
    slot=1,
    rank=1,
    evidence=(("ends/1.0", "rank 1 was killed by signal 9"),),
)


def plan(**changes: object) -> JobPlan:
    values: dict[str, object] = {
        "name": "gpt",
        "command": ("python", "train.py"),
        "nodes": 2,
        "total_steps": 200,
        **changes,
    }
    return JobPlan(**values)  # type: ignore[arg-type]


def record(job: str = "gpt-1", **changes: object) -> Record:
    """A job that lost a rank once and runs its second attempt."""
    values: dict[str, object] = {
        "plan": plan(),
        "created_ns": T0,
        "phase": Phase.RUNNING,
        "reason": "Running",
        "message": "2 ranks train",
        "since_ns": T0 + 12 * SECOND,
        "attempt": 1,
        "attempt_opened_ns": T0 + 10 * SECOND,
        "seats": (Seat(0, launched_ns=T0), Seat(1, 1, launched_ns=T0 + 10 * SECOND)),
        "uncounted": 1,
        "history": (PastAttempt(0, T0 + 10 * SECOND, KILLED, False, checkpoint_name(40, 0)),),
        **changes,
    }
    return Record(job=job, **values)  # type: ignore[arg-type]


@dataclass
class MadeRoot:
    """Writes objects below a folder."""

    path: Path

    def __post_init__(self) -> None:
        self.root: Root = open_root(str(self.path), create=True)
        self.store = self.root.store

    def put(self, value: Record) -> Record:
        """Write or replace a record."""
        found = self.store.read(Keys(value.job).record)
        self.store.swap(Keys(value.job).record, dumps(value), found.version if found else None)
        return value

    def drive(self, job: str) -> None:
        """Beat as a controller that is alive: this process."""
        words = f'{{"pid":{os.getpid()},"host":"{os.uname().nodename}","writer":"made"}}'
        self.store.beat(Keys(job).controller, words.encode())

    def world(self, job: str, attempt: int, step: int, *incarnations: int) -> None:
        """Members, world and HEAD sealed for an attempt."""
        host, pid = os.uname().nodename, os.getpid()
        members = tuple(
            Member(slot, inc, attempt, "127.0.0.1", 1, ranks=1, host=host, pid=pid)
            for slot, inc in enumerate(incarnations)
        )
        for member in members:
            key = Keys(job).member(attempt, member.slot, member.incarnation)
            self.store.create(key, dumps(member))
        name = checkpoint_name(step, attempt - 1) if step else None
        self.store.create(Keys(job).world(attempt), dumps(World(attempt, members, name, step)))

    def head(self, job: str, attempt: int, name: str | None) -> None:
        """Move HEAD, with a manifest for what it names."""
        found = self.store.read(Keys(job).head)
        data = dumps(Head(attempt, name))
        self.store.swap(Keys(job).head, data, found.version if found else None)
        if name is not None:
            step = int(name.split("-")[0])
            written = int(name.split("-")[1])
            manifest = Manifest(name, step, written, 0, (), created_ns=T0 + 9 * SECOND)
            self.store.create(Keys(job).manifest(name), dumps(manifest))

    def beat(self, job: str, value: Beat) -> None:
        """An agent's beat."""
        key = Keys(job).beat(value.attempt, value.slot, value.incarnation)
        self.store.beat(key, dumps(value))

    def end(self, job: str, value: End) -> None:
        """An agent's ending."""
        self.store.create(Keys(job).end(value.attempt, value.slot, value.incarnation), dumps(value))

    def entry(self, job: str, value: LedgerEntry) -> None:
        """An agent's ledger entry."""
        key = Keys(job).ledger_entry(value.slot, value.incarnation, value.attempt)
        self.store.create(key, dumps(value))

    def log(self, job: str, name: str, data: bytes, *marks: tuple[int, int]) -> None:
        """A log segment, and its index of (offset, unix ns)."""
        path = self.path / Keys(job).logs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        text = "".join(f"{offset} {at}\n" for offset, at in marks)
        path.with_name(path.name + ".idx").write_text(text)


def running_job(made: MadeRoot, job: str = "gpt-1") -> Record:
    """A driven job in its second attempt, at step 80 of 200."""
    value = made.put(record(job))
    made.drive(job)
    made.world(job, 1, 40, 0, 1)
    made.head(job, 1, checkpoint_name(40, 0))
    for slot, incarnation in ((0, 0), (1, 1)):
        metrics = (("loss", 1.5),)
        beat = Beat(slot, incarnation, 1, 80 - slot, 200, metrics=metrics, rank_pids=(100 + slot,))
        made.beat(job, beat)
    return value


def ended_job(made: MadeRoot, job: str = "gpt-1", **changes: object) -> Record:
    """The same job after its end."""
    values: dict[str, object] = {
        "phase": Phase.SUCCEEDED,
        "reason": "Succeeded",
        "message": "all 2 ranks exited 0",
        "ended_ns": T0 + 30 * SECOND,
        **changes,
    }
    value = made.put(record(job, **values))
    made.world(job, 1, 40, 0, 1)
    made.head(job, 1, checkpoint_name(200, 1))
    for slot, incarnation in ((0, 0), (1, 1)):
        made.end(job, End(slot, incarnation, 1, Outcome.SUCCEEDED, step=200))
    return value
