"""Old checkpoints go because a person says so, by the rules by which a controller prunes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from phalanx.app.jobs import Job, load
from phalanx.app.views import View
from phalanx.checkpoint.find import names, read_head
from phalanx.checkpoint.manifest import order_of
from phalanx.checkpoint.prune import Rules, may_go, prune
from phalanx.checkpoint.reading import load_manifest
from phalanx.clock import SECOND_NS, Clock, SystemClock
from phalanx.controller.pruning import named_by
from phalanx.errors import CheckpointUnreadable, InputError
from phalanx.reconcile.decision import Timing

POLL_S = 0.2
PATIENCE_S = 30.0
"""Beyond the wait: what is still there then has become needed meanwhile."""


@dataclass(frozen=True)
class Wish:
    """What a person wants gone: the given steps, else all but the newest `keep`."""

    steps: tuple[int, ...] = ()
    keep: int | None = None
    """None: as many as the job file says."""


def prune_view(
    job: Job,
    wish: Wish,
    *,
    dry_run: bool = False,
    tell: Callable[[str], None] = lambda _: None,
    clock: Clock | None = None,
) -> View:
    """`phalanx.prune/1`, once everything is gone that was to go; nothing goes with `dry_run`.

    Raises `InputError` when a step that was named is not there or has to stay.
    """
    only = _named(job, wish)
    wanted = may_go(job.root.store, job.keys, _rules(job, wish, only), _in_use(job))
    sizes = {name: _size(job, name) for name in wanted}
    left: tuple[str, ...] = wanted
    if wanted and not dry_run:
        left = _prune(job, wish, (frozenset(wanted), tell), clock or SystemClock())
    gone = wanted if dry_run else tuple(name for name in wanted if name not in left)
    return {
        "schema": "phalanx.prune/1",
        "job": job.id,
        "dry_run": dry_run,
        "pruned": [
            {"name": name, "step": (order_of(name) or (0, 0))[1], "bytes": sizes[name]}
            for name in gone
        ],
        "kept": [name for name in names(job.root.store, job.keys) if name not in gone],
    }


def _prune(
    job: Job, wish: Wish, what: tuple[frozenset[str], Callable[[str], None]], clock: Clock
) -> tuple[str, ...]:
    """Mark, wait, delete; what is left of it in the end, because somebody needs it now."""
    wanted, tell = what
    store, keys = job.root.store, job.keys
    wait_s = _wait_s(job)
    until_ns = clock.monotonic_ns() + int((wait_s + PATIENCE_S) * SECOND_NS)
    is_told = False
    while True:
        job = load(job.root, job.id, job.note)
        done = prune(store, keys, _rules(job, wish, wanted), _in_use(job))
        left = may_go(store, keys, _rules(job, wish, wanted), _in_use(job))
        if not left or clock.monotonic_ns() > until_ns:
            return tuple(name for name in names(store, keys) if name in wanted)
        if _wait_s(job) and not is_told:
            tell(f"waiting {wait_s:g} s, as a rank may still be reading them")
            is_told = True
        if not done.retired or _wait_s(job):
            clock.sleep(POLL_S)


def _wait_s(job: Job) -> float:
    """Once nothing of a job lives there is nobody who could still be reading."""
    return 0.0 if job.record.phase.is_terminal else Timing().prune_wait_s


def _rules(job: Job, wish: Wish, only: frozenset[str] | None) -> Rules:
    keep = job.record.plan.checkpoint.keep if wish.keep is None else wish.keep
    return Rules(1 if wish.steps else keep, int(_wait_s(job) * SECOND_NS), only)


def _in_use(job: Job) -> set[str]:
    return named_by(job.root.store, job.record)


def _named(job: Job, wish: Wish) -> frozenset[str] | None:
    """Names of the steps that were asked for. Raises `InputError` for one that stays."""
    if not wish.steps:
        return None
    store, keys = job.root.store, job.keys
    there = names(store, keys)
    free = may_go(store, keys, Rules(1, 0), _in_use(job))
    chosen: list[str] = []
    for step in wish.steps:
        found = [name for name in there if (order_of(name) or (0, -1))[1] == step]
        if not found:
            raise InputError(
                f"{job.id} has no checkpoint of step {step}",
                hint="`phalanx checkpoints` lists them",
            )
        stays = [name for name in found if name not in free]
        if len(stays) == len(found):
            raise InputError(f"{stays[0]} stays: {_because(job, stays[0])}")
        chosen += [name for name in found if name in free]
    return frozenset(chosen)


def _because(job: Job, name: str) -> str:
    head = read_head(job.root.store, job.keys)
    if head is None or head.checkpoint is None:
        return "nothing is committed yet"
    if name == head.checkpoint:
        return "it is the newest committed one"
    if name in _in_use(job):
        return "the present attempt began from it"
    if (order_of(name) or (0, 0)) > (order_of(head.checkpoint) or (0, 0)):
        return "it is newer than the newest committed one"
    return "it is unfinished and of the present attempt"


def _size(job: Job, name: str) -> int | None:
    try:
        return load_manifest(job.root.store, job.keys.checkpoint(name), name).bytes
    except CheckpointUnreadable:
        return None
