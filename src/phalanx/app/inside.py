"""Go into a running job: a command in a slot's surroundings, or the stacks of its ranks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from phalanx.agent.environment import every_rank
from phalanx.app.jobs import Job
from phalanx.app.look import read
from phalanx.app.stacks import is_told, rank_view, silence
from phalanx.app.which import check_rank, check_slot
from phalanx.backends.base import Enters
from phalanx.errors import BackendError, InputError
from phalanx.state.gang import World
from phalanx.state.observed import ObservedTask
from phalanx.state.record import Seat

STACKS_LIMIT_S = 30.0
"""For the answer of one slot: its ranks have 5 s, the rest is for a machine that is busy."""


class Target(Enters, Protocol):
    """A backend as it is needed here."""

    def observe(self, job: str) -> tuple[ObservedTask, ...]:
        """Every task of the job that the target knows of."""
        ...


class Choice(NamedTuple):
    """Which slots and ranks are meant; None where nobody said."""

    slot: int | None = None
    rank: int | None = None


class Door(NamedTuple):
    """A slot that runs, and the rank of it that is meant; None for its first."""

    backend: Enters
    task: ObservedTask
    rank: int | None


def door(job: Job, choice: Choice) -> Door:
    """Where a command for this choice is to run: by slot, by rank, else the first slot.

    Raises `InputError` for a slot or rank that does not exist, and `BackendError` when it does
    not run.
    """
    slot = _slot_of(job, choice)
    backend = _backend(job)
    seat = next(seat for seat in job.record.seats if seat.slot == (slot or 0))
    return Door(backend, _running(job, seat, backend.observe(job.id)), choice.rank)


def enter(way: Door, command: Sequence[str]) -> int:
    """Run a command, or a shell for an empty one, joined to our terminal; its exit code."""
    return way.backend.enter(way.task, {"command": list(command), "rank": way.rank})


def has_ended(job: Job, way: Door) -> bool:
    """Whether the task is over by now: what ran inside it was ended with it."""
    found = _backend(job).observe(job.id)
    return not any(task.token == way.task.token and task.is_alive for task in found)


def stacks_view(job: Job, choice: Choice) -> dict[str, Any]:
    """`phalanx.stacks/1`: what every rank is doing now. The ranks go on; nothing is concluded.

    Raises what `door` raises, and `BackendError` when not one rank shows what it is doing.
    """
    slot = _slot_of(job, choice)
    backend = _backend(job)
    seats = [seat for seat in job.record.active if slot in (None, seat.slot)]
    tasks = backend.observe(job.id)
    found: list[dict[str, Any]] = []
    missing: list[dict[str, Any]] = []
    for seat, answer in _ask_all(job, backend, [(seat, tasks) for seat in seats]):
        if isinstance(answer, BackendError):
            missing.append({"slot": seat.slot, "because": answer.message})
        else:
            found += [rank_view(seat.slot, told) for told in answer]
    if choice.rank is not None:
        found = [one for one in found if one["rank"] == choice.rank]
    if not found:
        because = missing[0]["because"] if missing else f"the ranks of {job.id} have not started"
        raise BackendError(because, hint=f"`phalanx status {job.id}` says what it waits for")
    if not any(map(is_told, found)):
        hint = f"`phalanx exec {job.id}` goes into a slot"
        raise BackendError(f"{job.id} shows no stacks: {silence(found)}", hint=hint)
    return {
        "schema": "phalanx.stacks/1",
        "job": job.id,
        "attempt": job.record.attempt,
        "ranks": sorted(found, key=lambda one: int(one["rank"])),
        "missing": missing,
    }


def _ask_all(
    job: Job, backend: Enters, seats: list[tuple[Seat, tuple[ObservedTask, ...]]]
) -> list[tuple[Seat, list[dict[str, Any]] | BackendError]]:
    """All slots at once, so that the ranks are seen at nearly one moment."""
    from concurrent.futures import ThreadPoolExecutor

    def ask(one: tuple[Seat, tuple[ObservedTask, ...]]) -> list[dict[str, Any]] | BackendError:
        try:
            task = _running(job, *one)
            data = backend.ask(task, {"stacks": True}, STACKS_LIMIT_S)
            ranks: list[dict[str, Any]] = json.loads(data)["ranks"]
        except BackendError as error:
            return error
        if not ranks:
            return BackendError(f"the ranks of slot {one[0].slot} have not started")
        return ranks

    with ThreadPoolExecutor(max_workers=16) as pool:
        return list(zip([seat for seat, _ in seats], pool.map(ask, seats), strict=True))


def _slot_of(job: Job, choice: Choice) -> int | None:
    """The slot that is meant; None when nothing was said."""
    check_slot(job, choice.slot)
    check_rank(job, choice.rank)
    if choice.rank is None:
        return choice.slot
    slot = _slot_of_rank(job, choice.rank)
    if choice.slot is not None and choice.slot != slot:
        raise InputError(f"rank {choice.rank} of {job.id} is in slot {slot}, not {choice.slot}")
    return slot


def _slot_of_rank(job: Job, rank: int) -> int:
    plan = job.record.plan
    world = read(job, World, job.keys.world(job.record.attempt))
    if world is None:
        return rank // plan.ranks_per_node
    for member in every_rank(plan, world).members:
        first = every_rank(plan, world).first_rank(member.slot)
        if first <= rank < first + member.ranks:
            return member.slot
    raise BackendError(
        f"rank {rank} of {job.id} takes no part in attempt {world.attempt}",
        hint=f"`phalanx status {job.id}` shows who does",
    )


def _running(job: Job, seat: Seat, tasks: tuple[ObservedTask, ...]) -> ObservedTask:
    """The living task of a seat. Raises `BackendError` when there is none."""
    record = job.record
    if record.phase.is_terminal:
        raise BackendError(
            f"{job.id} has ended ({record.phase.value}): nothing runs in slot {seat.slot}",
            hint=f"`phalanx logs {job.id}` shows what it printed",
        )
    for task in tasks:
        if (task.slot, task.incarnation) == (seat.slot, seat.incarnation) and task.is_alive:
            return task
    raise BackendError(
        f"slot {seat.slot} of {job.id} does not run now: {record.phase.value}, {record.message}",
        hint=f"`phalanx status {job.id}` says what it waits for",
    )


def _backend(job: Job) -> Target:
    from pathlib import Path

    from phalanx.backends.local.backend import LocalBackend

    return LocalBackend(Path(job.root.folder))
