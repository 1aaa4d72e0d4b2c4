"""The job record: all that must be remembered, replaced by compare-and-swap only."""

from __future__ import annotations

from phalanx.frozen import frozen
from phalanx.names import PROTOCOL
from phalanx.plan.job import JobPlan
from phalanx.words import FailureClass, Phase


@frozen
class Seat:
    """The one incarnation that may join, beat or end for a slot.

    `launched_ns` is the store time at which the launch was intended (None: not yet intended);
    `tries` rises with every end seen and every try that came to nothing, so that each intent
    has a token of its own.
    """

    slot: int
    incarnation: int = 0
    tries: int = 0
    launched_ns: int | None = None
    seen_alive: bool = False
    """A task of this try was observed alive: from now on its absence means it is lost."""


@frozen
class Cause:
    """The first cause of an attempt's end."""

    failure: FailureClass
    message: str
    slot: int | None = None
    rank: int | None = None
    also: tuple[int, ...] = ()
    """Other ranks whose ends lie within the clocks' uncertainty."""
    evidence: tuple[tuple[str, str], ...] = ()
    """(where, says) pairs."""


@frozen
class PastAttempt:
    """One attempt that ended."""

    attempt: int
    ended_ns: int
    cause: Cause
    counted: bool
    resumed_from: str | None = None
    """Checkpoint that the *next* attempt was to start from, as committed when it was opened."""


@frozen
class StopRequest:
    """Somebody asked the job to end."""

    at_ns: int
    save: bool = False
    reason: str = ""


@frozen
class Record:
    """The truth about one job. Facts that can be observed again are not in it."""

    job: str
    plan: JobPlan
    created_ns: int
    kind: str = "train"
    phase: Phase = Phase.PENDING
    reason: str = "Submitted"
    message: str = "waiting for a controller"
    since_ns: int = 0
    attempt: int = 0
    attempt_opened_ns: int = 0
    waiting_since_ns: int | None = None
    """Store time from which no world has existed; None: since the job was created."""
    seats: tuple[Seat, ...] = ()
    counted: int = 0
    uncounted: int = 0
    spent: tuple[tuple[str, int], ...] = ()
    """Restarts per failure class, for rules with a limit: (class, restarts)."""
    fruitless: int = 0
    """Attempts in a row that ended without a newer committed step."""
    head_at_open: str | None = None
    """Committed checkpoint when the current attempt was opened."""
    backoff_until_ns: int | None = None
    """The next attempt is not opened before this store time."""
    unreadable: tuple[str, ...] = ()
    """Checkpoints that a rank could not read: no world may name them again."""
    stop: StopRequest | None = None
    ending: Phase | None = None
    """The terminal phase that waits until nothing of the job lives any more."""
    ending_since_ns: int = 0
    cause: Cause | None = None
    """Why the job failed, once it has."""
    warning: str = ""
    history: tuple[PastAttempt, ...] = ()
    sweeps: int = 0
    """Empty sweeps in a row after the terminal phase."""
    swept_ns: int = 0
    ended_ns: int | None = None
    protocol: int = PROTOCOL

    def seat(self, slot: int) -> Seat:
        """The seat of a slot."""
        return self.seats[slot]
