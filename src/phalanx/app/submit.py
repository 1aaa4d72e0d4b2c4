"""From a job file to a job that a controller drives."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from phalanx.app.jobs import JOBS
from phalanx.app.preflight import check_command
from phalanx.app.revive import Ensure, start_controller
from phalanx.app.root import Root, open_root
from phalanx.errors import PlanError, SpecError, StoreConflict
from phalanx.names import Keys, job_id, split_job_id
from phalanx.plan.job import JobPlan
from phalanx.state.codec import dumps
from phalanx.state.record import Record, Seat

_RACES = 1000


class Submitted(NamedTuple):
    """A job that was started, and what this machine cannot give it."""

    root: Root
    job: str
    notes: tuple[str, ...]


class _Resolved(NamedTuple):
    plan: JobPlan
    exclude: tuple[str, ...]
    notes: tuple[str, ...]


def submit(
    file: str,
    sets: Sequence[str] = (),
    root: str | None = None,
    *,
    target: str | None = None,
    ensure: Ensure = start_controller,
    at_record: Callable[[], None] = lambda: None,
) -> Submitted:
    """Read and resolve a job file, ship its source, write the record, start a controller.

    `at_record` is called when all is ready and the record is about to be written. Raises the
    error of whatever refused; no job exists then.
    """
    words = [*sets, *([f"target.kind={target}"] if target else [])]
    plan, exclude, notes = _resolve(file, words)
    opened = open_root(root, create=True)
    if plan.source is not None:
        plan = replace(plan, source_digest=_ship(opened, plan.source, exclude))
    at_record()
    job = create(opened, plan)
    ensure(opened, job)
    return Submitted(opened, job, notes)


def _resolve(file: str, sets: list[str]) -> _Resolved:
    """The plan of a job file on this machine. Raises `SpecError`, `InputError`, `PlanError`."""
    from pathlib import Path

    from phalanx.backends.local.devices import machine_here
    from phalanx.plan.build import build_plan, exclude_of
    from phalanx.spec.load import load

    loaded = load(Path(file), sets=sets)
    spec = loaded.spec
    machine = machine_here()
    plan = build_plan(spec, gpus_here=len(machine.gpus))
    if plan.source is not None:
        folder = os.path.join(os.path.dirname(os.path.abspath(file)), plan.source)
        plan = replace(plan, source=os.path.normpath(folder))
    wrong = check_command(plan, os.environ)
    if wrong is not None:
        index, error = wrong
        places = {-1: ("working_directory",), -2: ("source",)}
        path = places.get(index, ("command", index))
        at = loaded.document.place(path)
        raise SpecError(error.message, file=file, at=at, hint=error.hint)
    return _Resolved(plan, exclude_of(spec), _preflight(plan))


def _preflight(plan: JobPlan) -> tuple[str, ...]:
    """What this machine cannot give and the job can do without. Raises `PlanError` for the rest."""
    from phalanx.backends.local.devices import is_supported, machine_here, preflight, promises

    if not is_supported():
        raise PlanError(promises()[0])
    doubts = preflight(plan, machine_here())
    if doubts and doubts[0].is_fatal:
        raise PlanError(doubts[0].text)
    return tuple(doubt.text for doubt in doubts)


def _ship(root: Root, source: str, exclude: tuple[str, ...]) -> str:
    from phalanx.snapshot.make import make_snapshot

    return make_snapshot(root.store, source, exclude, skip=[root.folder]).digest


def create(root: Root, plan: JobPlan) -> str:
    """Write the record of a new job under the next free number of its name; returns its id."""
    now_ns = root.store.now_ns()
    number = _next_number(root, plan.name)
    for n in range(number, number + _RACES):
        job = job_id(plan.name, n)
        record = Record(
            job=job,
            plan=plan,
            created_ns=now_ns,
            since_ns=now_ns,
            attempt_opened_ns=now_ns,
            seats=tuple(Seat(slot) for slot in range(plan.nodes)),
        )
        if root.store.swap(Keys(job).record, dumps(record), None) is not None:
            return job
    raise StoreConflict(f"no free number for another job named {plan.name}", hint="try again")


def _next_number(root: Root, name: str) -> int:
    splits = [split for job in root.store.list(JOBS) if (split := split_job_id(job))]
    return max((n for known, n in splits if known == name), default=0) + 1
