"""The answers of `status`, `ps` and `why`, as the plain objects that `--json` prints."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from phalanx.app.fallback import fallbacks
from phalanx.app.jobs import Job
from phalanx.app.look import Look, is_gone, resumed_from, step_of
from phalanx.app.messages import seen_messages
from phalanx.app.slow import slow_now, slow_view
from phalanx.app.times import maybe, rfc3339
from phalanx.names import split_checkpoint_name
from phalanx.state.codec import plain
from phalanx.state.observed import ObservedTask
from phalanx.state.record import Cause, PastAttempt, Seat
from phalanx.words import Phase

View = dict[str, Any]
"""One JSON object; `docs/contracts.md` names the members."""


def status_view(
    look: Look, committed_ns: int | None = None, tasks: tuple[ObservedTask, ...] = ()
) -> View:
    """`phalanx.status/1`.

    `committed_ns` is the time of the newest commit, `tasks` what the target says, where known.
    """
    return {
        "schema": "phalanx.status/1",
        **_summary(look, committed_ns),
        "tasks": [_task(look, seat, tasks) for seat in look.record.seats],
        "history": [_past(look.job, past) for past in look.record.history],
        "passed_over": [one.view() for one in fallbacks(look)],
        "messages": [seen.view() for seen in seen_messages(look.job)],
    }


def ps_view(looks: list[tuple[Look, int | None]], refused: dict[str, str]) -> View:
    """`phalanx.ps/1`: a summary of each job; `refused` are jobs that cannot be read, and why."""
    return {
        "schema": "phalanx.ps/1",
        "jobs": [_summary(look, at) for look, at in looks],
        "unreadable": [{"job": job, "because": because} for job, because in refused.items()],
    }


def cause_view(cause: Cause) -> View:
    """A first cause: `evidence` is one line, `also` the ranks that ended as early."""
    said = "; ".join(f"{where}: {says}" for where, says in cause.evidence)
    return {
        "slot": cause.slot,
        "rank": cause.rank,
        "class": cause.failure.value,
        "message": cause.message,
        "evidence": said or cause.message,
        "also": list(cause.also),
    }


def _summary(look: Look, committed_ns: int | None) -> View:
    record = look.record
    metrics = [s.beat.metrics for s in look.beats if s.beat.metrics]
    head = look.head
    split = split_checkpoint_name(head.checkpoint) if head and head.checkpoint else None
    size = look.world.size if look.world else len(record.active) * record.plan.ranks_per_node
    return {
        "job": look.job.id,
        "kind": record.kind,
        "phase": record.phase.value,
        "reason": record.reason,
        "message": record.message,
        "since": rfc3339(record.since_ns or record.created_ns),
        "created": rfc3339(record.created_ns),
        "ended": maybe(record.ended_ns),
        "attempt": record.attempt,
        "restarts": {"counted": record.counted, "uncounted": record.uncounted},
        "step": look.step,
        "total_steps": look.total_steps,
        "eta_s": look.eta_s,
        "metrics": _finite(metrics[0]) if metrics else {},
        "checkpoint": split
        and {"step": split[0], "attempt": split[1], "committed_at": maybe(committed_ns)},
        "world_size": size,
        "nodes": {
            "now": len(record.active),
            "min": record.plan.fewest,
            "max": record.plan.nodes,
        },
        "verdict": cause_view(record.cause) if record.cause else None,
        "warning": record.warning or None,
        "slow": [slow_view(slow) for slow in slow_now(look)],
        "waits": list(look.waits),
        "init_from": plain(record.plan.init_from),
    }


def _finite(metrics: Iterable[tuple[str, float]]) -> View:
    """JSON holds no NaN and no infinity: null stands for them, as in the metrics file."""
    return {name: value if isfinite(value) else None for name, value in metrics}


def _past(job: Job, past: PastAttempt) -> View:
    return {
        "attempt": past.attempt,
        "ended": rfc3339(past.ended_ns),
        "first_cause": cause_view(past.cause),
        "counted": past.counted,
        "resumed_from_step": step_of(resumed_from(job, past)),
    }


def _task(look: Look, seat: Seat, tasks: tuple[ObservedTask, ...]) -> View:
    task = _of_seat(tasks, seat)
    member, seen = look.member(seat), look.beat(seat)
    pids = seen.beat.rank_pids if seen else ()
    first = look.world.first_rank(seat.slot) if look.world else 0
    state = task.state.value if task else _guess(look, seat)
    ended = {end.slot: end for end in look.ends}.get(seat.slot)
    alive = state == "running" and ended is None
    return {
        "slot": seat.slot,
        "incarnation": seat.incarnation,
        "parked": seat.parked,
        "state": state,
        "outcome": ended.outcome.value if ended else None,
        "host": task.host if task and task.host else member.host if member else "",
        "id": task.id if task else str(member.pid) if member else "",
        "step": seen.beat.step if seen else None,
        "ranks": [{"rank": first + i, "pid": pid} for i, pid in enumerate(pids) if alive],
    }


def _of_seat(tasks: tuple[ObservedTask, ...], seat: Seat) -> ObservedTask | None:
    mine = [t for t in tasks if (t.slot, t.incarnation) == (seat.slot, seat.incarnation)]
    return max(mine, key=lambda task: task.tries, default=None)


def _guess(look: Look, seat: Seat) -> str:
    """A task's state by its own objects, where the target was not asked."""
    if look.record.phase.is_terminal or look.record.phase is Phase.PAUSED:
        return "stopped"
    member = look.member(seat)
    if member is not None and is_gone(member):
        return "stopped"
    return "running" if member or look.beat(seat) else "pending"
