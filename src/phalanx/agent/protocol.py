"""What an agent does next: pure, so that the simulator runs the very same decisions.

`decide(self, seen, now)` looks at what was read and answers with one `Move`. The shell
(`agent.loop`) carries it out and looks again. Conditional writes make a move that was decided
on stale sight harmless: the store refuses it. `docs/protocols.md` gives the reasons.
"""

from __future__ import annotations

from enum import Enum

from phalanx import names
from phalanx.clock import SECOND_NS
from phalanx.frozen import frozen, replace
from phalanx.state.gang import End, Head, Member, World
from phalanx.state.record import Record
from phalanx.words import FailureClass, Outcome, Phase

FREEZE_STEP_S = 0.2
"""Position k among the members waits k times this long before it freezes."""


class Ranks(str, Enum):
    """Where this agent's rank processes are."""

    NONE = "none"
    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"


@frozen
class Me:
    """What an agent knows of itself."""

    slot: int
    incarnation: int
    token: str
    attempt: int | None = None
    """The attempt that `ranks`, `ready` and `end` belong to."""
    ranks: Ranks = Ranks.NONE
    ready: Member | None = None
    """Prepared for `attempt`: port bound, collective store listening."""
    end: End | None = None
    """How the ranks of `attempt` ended, once they have."""
    complete_since_ns: int | None = None
    """Own monotonic time at which all members were first seen."""
    asked_to_leave: bool = False
    """The task was told to end, by a signal or a departure notice with a deadline."""
    save_settled: bool = False
    """The ranks have saved for the departure, or declined."""


@frozen
class Seen:
    """What was read in one look, all of the record's current attempt.

    `members` are read until the world exists; a parked agent's look always holds them.
    """

    record: Record | None
    members: tuple[Member, ...] = ()
    world: World | None = None
    ends: tuple[End, ...] = ()
    head: Head | None = None
    head_version: str | None = None
    is_hang: bool = False
    """An agent of this attempt found that a rank hangs."""


@frozen
class Leave:
    """Stop what runs and exit 0."""

    why: str


@frozen
class Prepare:
    """Forget the last attempt, bind a port and serve a fresh collective store."""

    attempt: int


@frozen
class Join:
    """Create the member."""

    member: Member


@frozen
class Seal:
    """Swap HEAD so that only this attempt can commit; the checkpoint is chosen here."""

    attempt: int
    head: Head | None
    version: str | None
    unreadable: tuple[str, ...]


@frozen
class Freeze:
    """Create the world."""

    world: World


@frozen
class StartRanks:
    """Start this agent's ranks in this world."""

    world: World


@frozen
class StopRanks:
    """Signal the ranks, wait a grace, kill."""

    why: str
    by_user: bool = False
    is_hang: bool = False
    """Another slot hangs: what these ranks are doing is evidence."""


@frozen
class SaveFirst:
    """Tell the ranks of the departure and wait for their answer."""

    why: str


@frozen
class WriteEnd:
    """Create the ending of this attempt."""

    end: End


@frozen
class Wait:
    """Nothing to do until something changes, or `seconds` have passed."""

    why: str
    seconds: float | None = None


Move = Leave | Prepare | Join | Seal | Freeze | StartRanks | StopRanks | SaveFirst | WriteEnd | Wait


def decide(me: Me, seen: Seen, now_ns: int) -> Move:
    """The next move. `now_ns` is the agent's own monotonic clock."""
    record = seen.record
    if record is None:
        return leave(me, "the job's record is gone")
    if record.phase.is_terminal or record.ending is not None:
        return _bow_out(me, seen, record)
    if not is_seated(me, record):
        return leave(me, "superseded: another incarnation has the seat")
    if me.asked_to_leave:
        return _bow_out(me, seen, record)
    if me.attempt != record.attempt:
        if me.ranks in (Ranks.RUNNING, Ranks.STOPPING):
            return _stop(me, f"attempt {record.attempt} is open")
        return Prepare(record.attempt)
    return _in_attempt(me, seen, record, now_ns)


def is_seated(me: Me, record: Record) -> bool:
    """Whether the record gives this very task the seat."""
    if me.slot >= len(record.seats):
        return False
    seat = record.seats[me.slot]
    return me.token == names.token(record.job, seat.slot, seat.incarnation, seat.tries)


def noticed(me: Me, seen: Seen, now_ns: int) -> Me:
    """`me`, remembering since when all members are there."""
    record = seen.record
    if record is None or me.attempt != record.attempt or not _all_there(seen, record):
        return replace(me, complete_since_ns=None)
    return me if me.complete_since_ns is not None else replace(me, complete_since_ns=now_ns)


def is_parked(me: Me, record: Record) -> bool:
    """Whether the world of this attempt does without this agent's slot."""
    return me.slot < len(record.seats) and record.seats[me.slot].parked


def _stand_by(me: Me, seen: Seen, record: Record) -> Move:
    """Get ready and say so; a later attempt may take this slot in."""
    if me.ranks is Ranks.ENDED:
        return Leave("a standby that cannot get ready makes room for another")
    if me.ready is None:
        return Prepare(record.attempt)
    if not _has_joined(me, seen):
        return Join(me.ready)
    return Wait("standing by: the world of this attempt does without this slot")


def _in_attempt(me: Me, seen: Seen, record: Record, now_ns: int) -> Move:
    if is_parked(me, record):
        return _stand_by(me, seen, record)
    if _own_end(me, seen):
        return Wait("this attempt has ended here")
    if me.ranks is Ranks.ENDED:
        return WriteEnd(_end_of(me))
    if me.ranks is Ranks.STOPPING:
        return Wait("ranks are stopping", 0.05)
    broken = [
        e for e in seen.ends if e.outcome is not Outcome.SUCCEEDED and _is_seated_end(e, record)
    ]
    if broken:
        if me.ranks is Ranks.RUNNING:
            is_hang = any(e.failure is FailureClass.HANG for e in broken)
            return StopRanks(f"slot {broken[0].slot} ended", is_hang=is_hang)
        return Wait("the attempt is broken; waiting for the next")
    if seen.world is not None:
        return _in_world(me, seen.world)
    return _toward_world(me, seen, record, now_ns)


def _in_world(me: Me, world: World) -> Move:
    if not world.has(me.slot, me.incarnation):
        return Wait("the world was frozen without this incarnation")
    if me.ranks is Ranks.NONE:
        return StartRanks(world)
    return Wait("ranks at work")


def _toward_world(me: Me, seen: Seen, record: Record, now_ns: int) -> Move:
    if me.ready is None:
        return Prepare(record.attempt)
    if not _has_joined(me, seen):
        return Join(me.ready)
    if not _all_there(seen, record):
        return Wait("waiting for the other members")
    waited_ns = now_ns - (me.complete_since_ns if me.complete_since_ns is not None else now_ns)
    position = [seat.slot for seat in record.active].index(me.slot)
    turn_ns = int(position * FREEZE_STEP_S * SECOND_NS)
    if waited_ns < turn_ns:
        return Wait("another member freezes first", (turn_ns - waited_ns) / SECOND_NS)
    return _freeze(seen, record)


def _freeze(seen: Seen, record: Record) -> Move:
    head, attempt = seen.head, record.attempt
    if head is not None and head.attempt > attempt:
        return Wait("a newer attempt has sealed the checkpoints")
    if head is None or head.attempt < attempt:
        return Seal(attempt, head, seen.head_version, record.unreadable)
    named = names.split_checkpoint_name(head.checkpoint) if head.checkpoint else None
    origin = record.plan.init_from
    first = named[0] if named else origin.first_step if origin is not None else 0
    return Freeze(World(attempt, _seated_members(seen, record), head.checkpoint, first))


def _bow_out(me: Me, seen: Seen, record: Record) -> Move:
    """The job is ending, or this task is: end the ranks, say how they ended, leave."""
    by_user = record.ending is Phase.STOPPED or record.last_save or me.asked_to_leave
    why = "the task was asked to end" if me.asked_to_leave else "the job is ending"
    if me.ranks is Ranks.RUNNING:
        if _wants_save(me, seen, record):
            return SaveFirst(why)
        return StopRanks(why, by_user=by_user)
    if me.ranks is Ranks.STOPPING:
        return Wait("ranks are stopping", 0.05)
    if me.ranks is Ranks.ENDED and me.attempt == record.attempt and not _own_end(me, seen):
        return WriteEnd(_end_of(me))
    return Leave(why)


def _wants_save(me: Me, seen: Seen, record: Record) -> bool:
    """A departing task saves first, unless its attempt is over or the user wants no save."""
    if me.save_settled or me.attempt != record.attempt:
        return False
    is_asked = record.ending is Phase.STOPPED and record.stop is not None and record.stop.save
    if record.ending is not None and not record.last_save:
        return is_asked
    return is_asked or all(e.outcome is Outcome.SUCCEEDED for e in seen.ends)


def leave(me: Me, why: str) -> Move:
    """Go without saving: the ranks first, then this agent."""
    if me.ranks is Ranks.RUNNING:
        return StopRanks(why)
    if me.ranks is Ranks.STOPPING:
        return Wait("ranks are stopping", 0.05)
    return Leave(why)


def _stop(me: Me, why: str) -> Move:
    return StopRanks(why) if me.ranks is Ranks.RUNNING else Wait("ranks are stopping", 0.05)


def _has_joined(me: Me, seen: Seen) -> bool:
    return any((m.slot, m.incarnation) == (me.slot, me.incarnation) for m in seen.members)


def _own_end(me: Me, seen: Seen) -> bool:
    return any((e.slot, e.incarnation) == (me.slot, me.incarnation) for e in seen.ends)


def _end_of(me: Me) -> End:
    if me.end is None:
        raise ValueError("ranks have ended without an ending")
    return me.end


def _is_seated_end(end: End, record: Record) -> bool:
    seats = record.seats
    if end.slot >= len(seats) or seats[end.slot].parked:
        return False
    return seats[end.slot].incarnation == end.incarnation


def _seated_members(seen: Seen, record: Record) -> tuple[Member, ...]:
    seats = {(s.slot, s.incarnation) for s in record.active}
    mine = [m for m in seen.members if (m.slot, m.incarnation) in seats]
    return tuple(sorted(mine, key=lambda m: m.slot))


def _all_there(seen: Seen, record: Record) -> bool:
    return len(_seated_members(seen, record)) == len(record.active)
