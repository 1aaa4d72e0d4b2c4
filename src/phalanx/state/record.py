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
    alive_ns: int | None = None
    """Store time of that first sight, until the incarnation's instance time is booked."""
    parked: bool = False
    """Given up for now: the world of this attempt does without the slot."""
    falls: int = 0
    """Times in a row that it was given up soon after it had been taken in."""
    since_ns: int = 0
    """Store time at which it was given up or taken in, or its last try came to nothing."""
    because: str = ""
    """Why it is given up, or why it could not be launched: for people."""
    refused: bool = False
    """The target refused this launch for good."""


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
class PauseRequest:
    """Somebody asked the job to rest; taken away again to let it go on."""

    at_ns: int
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
    """The terminal phase, or Paused, that waits until nothing of the job lives any more."""
    ending_since_ns: int = 0
    cause: Cause | None = None
    """Why the job failed, once it has."""
    warning: str = ""
    history: tuple[PastAttempt, ...] = ()
    sweeps: int = 0
    """Empty sweeps in a row after the terminal phase."""
    swept_ns: int = 0
    ended_ns: int | None = None
    pause: PauseRequest | None = None
    """The job is to rest, or rests, until this is taken away."""
    paused_since_ns: int | None = None
    """Store time since which the job rests; None while it does not."""
    paused_ns: int = 0
    """Rests that are over, summed up."""
    last_save: bool = False
    """The ranks save one step before they end, if they have the time."""
    instance_ns: int = 0
    """Instance time of incarnations that are over; those that live are counted from their seats."""
    warned: tuple[str, ...] = ()
    """Limits of which somebody was told that they are nearly reached."""
    protocol: int = PROTOCOL
    quorum_ns: int | None = None
    """Store time at which enough nodes for a world were first seen in this attempt, but not all."""
    growing: str | None = None
    """A slot is ready to come back: what HEAD named then ('' for nothing); the next commit
    opens the next attempt. None: nobody is ready."""
    resized_ns: int = 0
    """Store time of the last change of the number of nodes."""

    @property
    def active(self) -> tuple[Seat, ...]:
        """Seats that take part in this attempt, in the order of slots."""
        return tuple(seat for seat in self.seats if not seat.parked)

    def seat(self, slot: int) -> Seat:
        """The seat of a slot."""
        return self.seats[slot]

    @property
    def is_settled(self) -> bool:
        """Swept, and nothing left to decide: ended, or paused until somebody asks for more."""
        is_resting = self.phase is Phase.PAUSED and self.pause is not None and self.stop is None
        return (self.phase.is_terminal or is_resting) and self.sweeps >= 2
