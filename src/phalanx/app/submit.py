"""From a job file to a job that a controller drives."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from phalanx.app.exposure import check_words, known_secrets
from phalanx.app.exposure import notes as exposure_notes
from phalanx.app.jobs import JOBS, REMOVED
from phalanx.app.origin import Asked, origin_of, settle, unsettle
from phalanx.app.preflight import check_command, check_receivers
from phalanx.app.revive import Ensure, start_controller
from phalanx.app.root import Root, open_root
from phalanx.errors import CheckpointUnreadable, PlanError, StoreConflict
from phalanx.names import Keys, job_id, split_job_id
from phalanx.owned import problem_of
from phalanx.plan.job import JobPlan
from phalanx.redaction.redactor import Redactor
from phalanx.snapshot.secrets import Suspicion
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
    asked: Asked | None
    """`init_from`, to be resolved under the root."""


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
    plan, exclude, notes, asked = _resolve(file, words)
    known = known_secrets(plan, os.environ)
    opened = open_root(root, create=True)
    left_out: tuple[Suspicion, ...] = ()
    if asked is not None:
        plan = replace(plan, init_from=origin_of(opened, asked, plan))
    if plan.source is not None:
        digest, left_out = _ship(opened, plan.source, exclude, known)
        notes = (*notes, *_left_out_by_default(plan.source, exclude))
        plan = replace(plan, source_digest=digest)
    at_record()
    try:
        job = create(opened, plan)
    except CheckpointUnreadable as error:
        raise asked.wrong(error, ("init_from", "job")) if asked else error from error
    ensure(opened, job)
    return Submitted(opened, job, (*notes, *exposure_notes(plan, os.environ, left_out)))


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
        raise loaded.wrong(error, places.get(index, ("command", index)))
    untold = check_receivers(plan, os.environ)
    if untold is not None:
        number, error = untold
        raise loaded.wrong(error, ("notify", number, "command", 0))
    exposed = check_words(plan, known_secrets(plan, os.environ))
    if exposed is not None:
        raise loaded.wrong(exposed[1], exposed[0])
    asked = None
    if spec.init_from is not None:
        asked = Asked(spec.init_from, file, loaded.wrong)
    return _Resolved(plan, exclude_of(spec), _preflight(plan), asked)


def _preflight(plan: JobPlan) -> tuple[str, ...]:
    """What this machine cannot give and the job can do without. Raises `PlanError` for the rest."""
    from phalanx.agent.seat import scratch_base
    from phalanx.backends.local.devices import is_supported, machine_here, preflight, promises

    if not is_supported():
        raise PlanError(promises()[0])
    _check_scratch(scratch_base(os.environ))
    doubts = preflight(plan, machine_here())
    if doubts and doubts[0].is_fatal:
        raise PlanError(doubts[0].text)
    return tuple(doubt.text for doubt in doubts)


def _check_scratch(base: str) -> None:
    """Raises `PlanError` when another user of this machine has taken our folder's place."""
    problem = problem_of(base)
    if problem:
        hint = "set TMPDIR to a folder of your own"
        raise PlanError(f"{base} cannot be used: {problem}", hint=hint)


def _ship(
    root: Root, source: str, exclude: tuple[str, ...], known: Redactor
) -> tuple[str, tuple[Suspicion, ...]]:
    """Digest of the snapshot, and the files that were left out because they hold secrets."""
    from phalanx.snapshot.make import make_snapshot

    made = make_snapshot(
        root.store, source, exclude, skip=[root.folder], secret_in=known.holds_value
    )
    return made.digest, made.left_out


def _left_out_by_default(source: str, exclude: tuple[str, ...]) -> tuple[str, ...]:
    """A line when the usual patterns keep files beside the script from being shipped."""
    from phalanx.plan.build import DEFAULT_EXCLUDE

    if exclude != DEFAULT_EXCLUDE:
        return ()
    found = sorted(name for name in os.listdir(source) if name.endswith(".pt"))
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    said = f"not shipped: {', '.join(found[:3])}{more} (*.pt is left out by default)"
    return (f'{said}; exclude: [".git"] ships all',) if found else ()


def create(root: Root, plan: JobPlan) -> str:
    """Write the record of a new job under the next free number of its name; returns its id."""
    now_ns = root.store.now_ns()
    number = _next_number(root, plan.name)
    for n in range(number, number + _RACES):
        job = job_id(plan.name, n)
        if not settle(root, job, plan):
            continue
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
        unsettle(root, job, plan)
    raise StoreConflict(f"no free number for another job named {plan.name}", hint="try again")


def _next_number(root: Root, name: str) -> int:
    known = {*root.store.list(JOBS), *root.store.list(REMOVED)}
    splits = [split for job in known if (split := split_job_id(job))]
    return max((n for other, n in splits if other == name), default=0) + 1
