"""One pass: load, observe, decide, save if unchanged, then act.

The steps are separate functions so that the simulator can put any delay, crash or other actor
between them. Losing the race to save means dropping the decision; a crash between saving and
acting is repaired by the next tick.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace

from phalanx.backends.base import Cleans
from phalanx.clock import SECOND_NS
from phalanx.controller.ports import Ports
from phalanx.errors import LaunchRefused, NoCapacity, Throttled
from phalanx.reconcile.decision import Action, Clean, Decision, Launch, Stop
from phalanx.reconcile.reconcile import reconcile
from phalanx.state import codec, read
from phalanx.state.gang import Beat, End, Member
from phalanx.state.observed import Observed, SeenBeat
from phalanx.state.record import Cause, Record
from phalanx.words import FailureClass, Phase


@dataclass(frozen=True)
class Sight:
    """The record as loaded, and one complete observation."""

    record: Record
    version: str
    observed: Observed
    now_ns: int


def look(ports: Ports) -> Sight | None:
    """Load and observe; None when the job's record is gone. Raises rather than see half."""
    store, keys = ports.store, ports.keys
    found = read.read_record(store, keys)
    if found is None:
        return None
    record = found.record
    tasks = ports.backend.observe(ports.job)
    world = read.read_world(store, keys, record.attempt)
    members = _standbys(ports, record) if world is not None else ()
    if world is None:
        members = read.read_members(store, keys, record.attempt)
    head, _ = read.read_head(store, keys)
    ends = read.read_ends(store, keys, record.attempt)
    observed = Observed(
        tasks=tasks,
        members=members,
        world=world,
        ends=ends,
        head=head,
        beats=_beats(ports, record, 1)
        if world is None
        else _late_beats(ports, record, ends, members),
        leftovers=_leftovers(ports, record, observed_alive=any(t.is_alive for t in tasks)),
    )
    return Sight(record, found.version, observed, store.now_ns())


def _standbys(ports: Ports, record: Record) -> tuple[Member, ...]:
    """Parked slots that got ready while the world goes on without them."""
    parked = [s for s in record.seats if s.parked and s.launched_ns is not None]
    keys = [ports.keys.member(record.attempt, s.slot, s.incarnation) for s in parked]
    found = [ports.store.read(key) for key in keys]
    return tuple(codec.loads(Member, f.data) for f in found if f is not None)


def _late_beats(
    ports: Ports, record: Record, ends: tuple[End, ...], standbys: tuple[Member, ...]
) -> tuple[SeenBeat, ...]:
    """In a world that runs, silence tells nothing before some are done or much time has passed.

    With a standby all are read: is it alive, and how long did the last restart take?
    """
    if standbys:
        return _beats(ports, record, 0)
    age_s = (ports.store.now_ns() - record.attempt_opened_ns) / SECOND_NS
    return _beats(ports, record, 0) if ends or age_s > record.plan.start_timeout_s else ()


def _beats(ports: Ports, record: Record, back: int) -> tuple[SeenBeat, ...]:
    """The newest signs of the seated agents, of this attempt and as many before."""
    found = []
    for seat in record.seats:
        for attempt in range(max(0, record.attempt - back), record.attempt + 1):
            pulse = ports.store.pulse(ports.keys.beat(attempt, seat.slot, seat.incarnation))
            if pulse is not None:
                with contextlib.suppress(ValueError):
                    found.append(SeenBeat(codec.loads(Beat, pulse[0]), pulse[1]))
    return tuple(found)


def decide(sight: Sight, ports: Ports) -> Decision:
    """The pure core, with the ports' patience."""
    return reconcile(sight.record, sight.observed, sight.now_ns, ports.timing)


def save(ports: Ports, sight: Sight, decision: Decision) -> bool:
    """Replace the record if unchanged; False when somebody else decided first."""
    if decision.record == sight.record:
        return True
    body = codec.dumps(decision.record)
    return ports.store.swap(ports.keys.record, body, sight.version) is not None


def act(ports: Ports, record: Record, action: Action) -> str | None:
    """Carry out one action; the answer, if any, is a sentence about why it must wait.

    A launch re-reads the record first: an intent that is no longer wanted is not carried out.
    """
    if isinstance(action, Stop):
        ports.backend.stop(action.task, action.reason, action.grace_s)
        return None
    if isinstance(action, Clean):
        if isinstance(ports.backend, Cleans):
            ports.backend.clean(ports.job, action.leftovers)
        return None
    return _launch(ports, record, action)


def _launch(ports: Ports, record: Record, action: Launch) -> str | None:
    fresh = read.read_record(ports.store, ports.keys)
    if fresh is None or not _still_wanted(fresh.record, action):
        return None
    try:
        ports.backend.launch(ports.backend.render(ports.job, record.plan, action.seat))
    except Throttled as error:
        return error.line()
    except NoCapacity as error:
        _keep_asking(ports, fresh, action, error.line())
        return error.line()
    except LaunchRefused as error:
        _refuse(ports, fresh, action, error)
        return error.line()
    return None


def _refuse(ports: Ports, fresh: read.Versioned, action: Launch, error: LaunchRefused) -> None:
    """A permanent refusal ends the job; losing this race is repaired by the next try.

    An elastic job goes on while enough slots are left that were not refused.
    """
    if _goes_on_without(fresh.record, action):
        _note(ports, fresh, action, Answer(error.line(), refused=True))
        return
    now_ns = ports.store.now_ns()
    message = f"slot {action.seat.slot} cannot be launched: {error.line()}"
    failed = replace(
        fresh.record,
        phase=Phase.STOPPING,
        ending=Phase.FAILED,
        ending_since_ns=now_ns,
        since_ns=now_ns,
        reason="LaunchRefused",
        message=message,
        cause=Cause(FailureClass.UNKNOWN, message, slot=action.seat.slot),
    )
    ports.store.swap(ports.keys.record, codec.dumps(failed), fresh.version)


def _keep_asking(ports: Ports, fresh: read.Versioned, action: Launch, said: str) -> None:
    """Nothing has room: no task was lost, so the wait for one begins anew, now and then."""
    seat, now_ns = fresh.record.seats[action.seat.slot], ports.store.now_ns()
    asked_s = (now_ns - (seat.launched_ns or now_ns)) / SECOND_NS
    is_old = asked_s > ports.timing.launch_grace_s / 2
    if seat.seen_alive or not (is_old or seat.because != said):
        return
    _note(ports, fresh, action, Answer(said, at_ns=now_ns if is_old else None))


def _goes_on_without(record: Record, action: Launch) -> bool:
    """An elastic job can do without a slot while enough others were not refused."""
    others = [s for s in record.seats if s.slot != action.seat.slot and not s.refused]
    return record.plan.is_elastic and len(others) >= record.plan.fewest


@dataclass(frozen=True)
class Answer:
    """Why a launch came to nothing."""

    said: str
    refused: bool = False
    at_ns: int | None = None
    """The new time of the intent, if that is moved."""


def _note(ports: Ports, fresh: read.Versioned, action: Launch, answer: Answer) -> None:
    """Keep the answer in the seat; losing this race is repaired by the next try."""
    record, slot = fresh.record, action.seat.slot
    was = record.seats[slot]
    launched_ns = was.launched_ns if answer.at_ns is None else answer.at_ns
    seat = replace(was, because=answer.said, refused=answer.refused, launched_ns=launched_ns)
    if seat == was:
        return
    seats = tuple(seat if s.slot == slot else s for s in record.seats)
    body = codec.dumps(replace(record, seats=seats))
    ports.store.swap(ports.keys.record, body, fresh.version)


def _still_wanted(record: Record, action: Launch) -> bool:
    if record.phase.is_terminal or record.ending is not None:
        return False
    seat, now = action.seat, record.seats[action.seat.slot]
    return (seat.incarnation, seat.tries) == (now.incarnation, now.tries)


def _leftovers(ports: Ports, record: Record, *, observed_alive: bool) -> tuple[str, ...]:
    """Looked for only once the job is ending and its tasks are gone: it costs a walk."""
    is_over = record.ending is not None or record.phase.is_terminal
    if observed_alive or not is_over or not isinstance(ports.backend, Cleans):
        return ()
    return ports.backend.leftovers(ports.job, ())


def is_settled(record: Record) -> bool:
    """Ended or at rest, and swept twice: no controller is needed any more."""
    return record.is_settled
