"""What a pass decides: the next record, the actions, and why."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx.state.observed import ObservedTask
from phalanx.state.record import Record, Seat


@dataclass(frozen=True)
class Launch:
    """Start the task of a seat. The seat's intent is already in the record."""

    seat: Seat


@dataclass(frozen=True)
class Stop:
    """Ask a task to end, and insist after `grace_s`."""

    task: ObservedTask
    reason: str
    grace_s: float


@dataclass(frozen=True)
class Clean:
    """Remove what the job left outside its tasks."""

    leftovers: tuple[str, ...]


Action = Launch | Stop | Clean


@dataclass(frozen=True)
class Event:
    """Something worth telling once: a CamelCase reason and a sentence."""

    reason: str
    message: str


@dataclass(frozen=True)
class Decision:
    """The outcome of one pass. `record` is the very same object when nothing must be saved."""

    record: Record
    reason: str
    message: str
    actions: tuple[Action, ...] = ()
    events: tuple[Event, ...] = ()
    recheck_after_s: float = 1.0


@dataclass(frozen=True)
class Timing:
    """How patient to be with a target. The defaults suit one machine.

    `launch_retry_s`: an intended task that is not to be seen is asked for again (the token makes
    that harmless). `launch_grace_s`: after that long it counts as lost. `settle_s`: how long a
    secondary failure waits for its cause. `sweep_gap_s`: time between two sweeps for strays.
    `silent_s`: a running task without a beat for that long is frozen or cut off; on a target that
    is not one machine never below the isolation time plus its stop time-out.
    `prune_wait_s`: from the mark on an old checkpoint to its deletion.
    `grow_floor_s`: shortest time between two sizes of an elastic job that names none.
    """

    launch_retry_s: float = 2.0
    launch_grace_s: float = 30.0
    settle_s: float = 1.0
    sweep_gap_s: float = 0.2
    prune_wait_s: float = 5.0
    silent_s: float = 10.0
    recheck_s: float = 1.0
    grow_floor_s: float = 30.0


ECS_TIMING = Timing(
    launch_retry_s=30.0,
    launch_grace_s=300.0,
    settle_s=10.0,
    sweep_gap_s=3600.0,
    prune_wait_s=1200.0,
    silent_s=900.0,
    recheck_s=15.0,
    grow_floor_s=300.0,
)
"""For a target with eventual consistency; stopped tasks are forgotten after about an hour."""
