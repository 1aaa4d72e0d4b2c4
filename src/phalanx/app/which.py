"""Slots, ranks and attempts that people name: is there such a one?"""

from __future__ import annotations

from phalanx.agent.environment import every_rank
from phalanx.app.jobs import Job
from phalanx.app.logs import Filter
from phalanx.app.look import read
from phalanx.errors import InputError
from phalanx.state.gang import World


def check_filter(job: Job, only: Filter) -> None:
    """Raises `InputError` for a slot, rank or attempt of which there can be no output."""
    check_slot(job, only.slot)
    check_attempt(job, only.attempt)
    check_rank(job, only.rank)
    if only.rank is not None and job.record.plan.launcher == "torchrun":
        raise InputError(
            f"{job.id}: under torchrun all ranks of a slot print together",
            hint=f"--slot {only.rank // job.record.plan.ranks_per_node} shows those of rank"
            f" {only.rank}",
        )


def check_slot(job: Job, slot: int | None) -> None:
    """Raises `InputError` for a slot that the job does not have."""
    _check(job, "slot", slot, len(job.record.seats))


def check_attempt(job: Job, attempt: int | None) -> None:
    """Raises `InputError` for an attempt that was never opened."""
    _check(job, "attempt", attempt, job.record.attempt + 1)


def check_rank(job: Job, rank: int | None) -> None:
    """Raises `InputError` for a rank that no attempt of the job has had or can have."""
    if rank is None:
        return
    sizes = [job.record.plan.world_size]
    if rank >= sizes[0]:
        worlds = (read(job, World, job.keys.world(n)) for n in range(job.record.attempt + 1))
        sizes += [every_rank(job.record.plan, world).size for world in worlds if world is not None]
    _check(job, "rank", rank, max(sizes))


def _check(job: Job, what: str, number: int | None, count: int) -> None:
    if number is None or 0 <= number < count:
        return
    has = f"its {what}s are 0 to {count - 1}" if count > 1 else f"its only {what} is 0"
    raise InputError(f"{job.id} has no {what} {number}", hint=has)
