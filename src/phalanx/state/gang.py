"""Objects that agents write while they agree on a world and live in it.

All are JSON under `attempts/<a>/`; every one carries the protocol number.
"""

from __future__ import annotations

from phalanx.frozen import frozen
from phalanx.names import PROTOCOL
from phalanx.words import FailureClass, Outcome


@frozen
class Member:
    """One agent is ready for an attempt; `port` is bound and serves a fresh collective store."""

    slot: int
    incarnation: int
    attempt: int
    address: str
    port: int
    ranks: int
    host: str = ""
    pid: int = 0
    agent_store: bool = True
    """Whether a collective store already listens on `port`; else rank 0 must open it."""
    protocol: int = PROTOCOL


@frozen
class World:
    """The frozen agreement: members by slot, and the checkpoint that everybody restores."""

    attempt: int
    members: tuple[Member, ...]
    checkpoint: str | None = None
    checkpoint_step: int = 0
    protocol: int = PROTOCOL

    @property
    def size(self) -> int:
        """Number of ranks."""
        return sum(member.ranks for member in self.members)

    def first_rank(self, slot: int) -> int:
        """Global rank of local rank 0 of a slot."""
        return sum(member.ranks for member in self.members if member.slot < slot)

    def node_rank(self, slot: int) -> int:
        """Position of a slot among the members."""
        return [member.slot for member in self.members].index(slot)

    def has(self, slot: int, incarnation: int) -> bool:
        """Whether this incarnation takes part."""
        return any((m.slot, m.incarnation) == (slot, incarnation) for m in self.members)


@frozen
class Head:
    """The newest committed checkpoint, and the attempt that alone may move it."""

    attempt: int
    checkpoint: str | None = None
    """Name, or None before the first commit."""


@frozen
class PassedOver:
    """Committed checkpoints that an attempt could not begin from; kept to be told to people."""

    checkpoints: tuple[tuple[str, str], ...]
    """(name, because), newest first."""
    protocol: int = PROTOCOL


@frozen
class RankEnd:
    """How one rank ended, as its agent saw it."""

    rank: int
    local_rank: int
    pid: int
    exit_code: int | None = None
    signal: int | None = None
    failure: FailureClass | None = None
    error: str = ""
    """The framework's error message, else the last lines of standard error; redacted."""
    told_to_stop: bool = False
    after_ns: int = 0
    """Age of the agent when it saw the end, on its monotonic clock."""
    order: int = 0
    """Order in which the agent saw its ranks end; 0 was first."""
    stuck: str = ""
    """After a hang: where it stood, `stopped`, `collective` or `code`; '' when not known."""
    place: str = ""
    """After a hang: the innermost line of the script, `train.py:41 in <module>`."""
    still_ns: int = 0
    """After a hang: how long it had stood still."""
    step: int = 0
    """Steps it had finished, as it last said."""


@frozen
class End:
    """How one agent's part of one attempt ended: create-once, all its ranks."""

    slot: int
    incarnation: int
    attempt: int
    outcome: Outcome
    ranks: tuple[RankEnd, ...] = ()
    failure: FailureClass | None = None
    """Set when the agent itself names the cause (Hang, CheckpointUnreadable, StartTimeout ...)."""
    message: str = ""
    checkpoint: str | None = None
    """The checkpoint that could not be read, for CheckpointUnreadable."""
    step: int = 0
    """Highest step that any of its ranks reported."""
    finished: bool = False
    """Every rank had announced its last step before the end."""
    departing: bool = False
    """The task goes because of a notice: its slot needs a new incarnation."""
    at_ns: int = 0
    """Store clock at writing; orders ends of different hosts within its uncertainty."""
    protocol: int = PROTOCOL


@frozen
class Pace:
    """How long one rank's own work takes in a step, without waiting for the others."""

    rank: int
    steps: int = 0
    """Steps of the newest whole block that were measured."""
    own_ns: int = 0
    """Median over that block."""
    spread_ns: int = 0
    """Median distance from it."""
    all_steps: int = 0
    """Steps measured in all whole blocks of the attempt."""
    all_ns: int = 0
    """Their medians, each times its steps, summed up."""


@frozen
class Beat:
    """Progress of one agent's ranks; overwritten, a hint for people and for hang finding."""

    slot: int
    incarnation: int
    attempt: int
    step: int = 0
    total_steps: int | None = None
    phase: str = "train"
    metrics: tuple[tuple[str, float], ...] = ()
    rank_pids: tuple[int, ...] = ()
    rank_steps: tuple[int, ...] = ()
    step_time_ns: int = 0
    saving: bool = False
    excused: bool = False
    """A rank here is in its first steps, in an announced phase or saving, or was so a moment ago:
    those that wait for it do not hang."""
    entry: LedgerEntry | None = None
    """The ledger entry as it would be written now: all that is left of an agent that is killed."""
    protocol: int = PROTOCOL
    waits: str = ""
    """What is waited for here beside the ranks, for people; what follows a colon changes."""


@frozen
class LedgerEntry:
    """One incarnation in one attempt: durations on its own monotonic clock, in nanoseconds.

    `total_ns` runs from the start of this entry to its end; `steps` are (step, duration) sums
    per covered range so that labels can be computed on reading.
    """

    slot: int
    incarnation: int
    attempt: int
    start_ns: int
    """Store clock at the start of the entry."""
    total_ns: int
    restart_ns: int = 0
    """From opening the entry to the first finished step: join, freeze, fork, restore, warm-up."""
    stall_ns: int = 0
    """Training blocked by copying state for a checkpoint."""
    first_step: int = 0
    """Steps already done when the ranks started (the restored checkpoint's step)."""
    last_step: int = 0
    """Steps done when the entry ended."""
    train_ns: int = 0
    """Time inside steps, without the stalls."""
    idle_ns: int = 0
    """After the ranks had exited 0, waiting for the gang."""
    end_ns: int = 0
    """Store clock at the end of the entry; 0 when not known: `start_ns + total_ns` then."""
    born_ns: int = 0
    """Store clock at the start of the agent's process; 0 when not known: `start_ns` then."""
    closed: bool = True
    """False for an entry that a killed agent left open and its successor estimated."""
    paces: tuple[Pace, ...] = ()
    """Of the ranks that measured theirs."""
