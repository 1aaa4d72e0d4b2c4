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
from phalanx.state.gang import Beat, End
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
    members = () if world is not None else read.read_members(store, keys, record.attempt)
    head, _ = read.read_head(store, keys)
    ends = read.read_ends(store, keys, record.attempt)
    observed = Observed(
        tasks=tasks,
        members=members,
        world=world,
        ends=ends,
        head=head,
        beats=_beats(ports, record, 1) if world is None else _late_beats(ports, record, ends),
        leftovers=_leftovers(ports, record, observed_alive=any(t.is_alive for t in tasks)),
    )
    return Sight(record, found.version, observed, store.now_ns())


def _late_beats(ports: Ports, record: Record, ends: tuple[End, ...]) -> tuple[SeenBeat, ...]:
    """In a world that runs, silence tells nothing before some are done or much time has passed."""
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
    except (Throttled, NoCapacity) as error:
        return error.line()
    except LaunchRefused as error:
        _refuse(ports, fresh, action, error)
        return error.line()
    return None


def _refuse(ports: Ports, fresh: read.Versioned, action: Launch, error: LaunchRefused) -> None:
    """A permanent refusal ends the job; losing this race is repaired by the next try."""
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
    """Terminal and swept twice: no controller is needed any more."""
    return record.phase in (Phase.SUCCEEDED, Phase.FAILED, Phase.STOPPED) and record.sweeps >= 2
