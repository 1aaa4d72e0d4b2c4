"""Between `min` and `max` nodes: give up slots that cannot be filled, take them in again later.

Every change of size opens an attempt of its own: the class is `Resized`, it counts as no restart
and as no attempt without progress. Growth happens right after a commit and never sooner than
`grow_after` after the last change; a slot that fell out soon after it had come back waits twice
as long each time. See docs/elastic.md.
"""

from __future__ import annotations

from dataclasses import replace

from phalanx import names
from phalanx.clock import SECOND_NS
from phalanx.reconcile import seating
from phalanx.reconcile.decision import Action, Decision, Event, Launch
from phalanx.reconcile.look import Look
from phalanx.reconcile.restart import open_resized
from phalanx.reconcile.seating import Change
from phalanx.state.record import Record, Seat
from phalanx.words import Outcome

QUIET_S = 1.0
"""A gang that comes together within this time is not disturbed."""
RESTARTS = 10
"""Measured restarts that pass between two sizes when the job file names no time."""


def stillborn(look: Look) -> Decision | None:
    """Tasks that ended before any world, in the attempt that launched them: go on without them.

    Only while enough others are left; else it is an ordinary loss.
    """
    record = look.record
    lost = look.buckets.lost_slots
    if not record.plan.is_elastic or look.observed.world is not None or not lost:
        return None
    if any(e.outcome is not Outcome.SUCCEEDED for e in look.ends):
        return None
    fresh = frozenset(s.slot for s in record.active if s.slot in lost and _is_new(record, s))
    spare = [seat.slot for seat in seating.ready(look)][: len(lost)]
    if fresh != lost or len(record.active) - len(lost) + len(spare) < record.plan.fewest:
        return None
    words = _slots(lost)
    because = "its task ended before it had joined"
    change = Change(lost, lost, lost, frozenset(spare))
    return open_resized(look, change, because, f"{words} ended before any world")


def standbys(look: Look) -> Decision | None:
    """Parked slots: a try that came to nothing is over, a new one begins when it is due."""
    if look.done_slots:
        return None
    record = look.record
    seats = tuple(_tended(look, seat) if seat.parked else seat for seat in record.seats)
    if seats == record.seats:
        return None
    asked = [s for s, was in zip(seats, record.seats, strict=True) if _is_asked(s, was)]
    events = tuple(Event("Standby", f"slot {s.slot} is tried again") for s in asked)
    decision = look.wait(record.reason, record.message, 0.0)
    return replace(
        decision,
        record=replace(decision.record, seats=seats),
        actions=tuple(map(Launch, asked)),
        events=events,
    )


def ask_again(look: Look, decision: Decision) -> Decision:
    """Whatever is decided, parked slots whose task is not to be seen are asked for again."""
    record = decision.record
    if record.ending is not None or record.phase.is_terminal or look.done_slots:
        return decision
    due: list[Action] = []
    for seat, was in zip(record.seats, look.record.seats, strict=True):
        is_hidden = seat == was and seat.parked and seating.is_hidden(look, seat)
        if is_hidden and look.age_s(seat.launched_ns or 0) >= look.timing.launch_retry_s:
            due.append(Launch(seat))
    return replace(decision, actions=(*decision.actions, *due)) if due else decision


def last_call(look: Look) -> Decision | None:
    """Enough are there for a world, and the others do not come: go on without them."""
    record = look.record
    if not record.plan.is_elastic or look.observed.world is not None:
        return None
    there = {(m.slot, m.incarnation) for m in look.observed.members}
    absent = [s.slot for s in record.active if (s.slot, s.incarnation) not in there]
    spare = [seat.slot for seat in seating.ready(look)][: len(absent)]
    present = len(record.active) - len(absent) + len(spare)
    if not absent or present < record.plan.fewest:
        return None
    if look.age_s(record.attempt_opened_ns) < QUIET_S:
        return None
    limit_s = record.plan.last_call_s
    words = _slots(absent)
    if record.quorum_ns is None:
        said = f"{present} of {record.plan.nodes} nodes are ready; {limit_s:g} s more for {words}"
        decision = look.wait("LastCall", said, 0.0)
        return replace(decision, record=replace(decision.record, quorum_ns=look.now_ns))
    if look.age_s(record.quorum_ns) < limit_s:
        return None
    change = Change(park=frozenset(absent), take_in=frozenset(spare))
    because = f"no task of it was ready within last_call ({limit_s:g} s)"
    return open_resized(look, change, because, f"{words} did not come")


def grow(look: Look) -> Decision | None:
    """A slot is ready to come back: note it, and open the next attempt at the next commit."""
    record, head = look.record, look.observed.head
    if not record.plan.is_elastic or look.observed.world is None or look.ends:
        return None
    now = (head.checkpoint if head is not None else None) or ""
    slots = _growable(look)
    if not slots:
        return _note_wish(look, None) if record.growing is not None else None
    if record.growing is None:
        return _note_wish(look, now)
    is_new = now != record.growing and head is not None and head.attempt == record.attempt
    if not is_new or _is_last(record, now):
        return None
    words = _slots(slots)
    is_gang = record.plan.restart_scope == "gang"
    renew = frozenset(seat.slot for seat in record.active) if is_gang else frozenset()
    change = Change(renew, take_in=frozenset(slots))
    return open_resized(look, change, "", f"{words} can take part again")


def grow_after_s(look: Look) -> float:
    """Shortest time between two sizes: as the job file says, or ten measured restarts."""
    if look.record.plan.grow_after_s is not None:
        return look.record.plan.grow_after_s
    entries = [s.beat.entry for s in look.observed.beats if s.beat.entry is not None]
    restarts = [e.restart_ns for e in entries if e.last_step > e.first_step]
    return max(look.timing.grow_floor_s, RESTARTS * max(restarts, default=0) / SECOND_NS)


def fewer(look: Look) -> str:
    """`running with 2 of 4 nodes: slot 3: why`; '' when all take part."""
    record = look.record
    parked = [seat for seat in record.seats if seat.parked]
    if not parked:
        return ""
    size = f"running with {len(record.active)} of {record.plan.nodes} nodes"
    why = "; ".join(f"slot {seat.slot}: {_state(look, seat)}" for seat in parked)
    return f"{size}: {why}"


def _state(look: Look, seat: Seat) -> str:
    if seating.is_ready(look, seat):
        due = "the next commit" if look.record.growing is not None else "a while"
        return f"ready, takes part after {due}"
    task = seating.standby_task(look, seat)
    if task is not None and task.is_alive:
        return "a new task of it gets ready"
    return seat.because or "given up for now"


def _growable(look: Look) -> list[int]:
    record = look.record
    found = [
        seat.slot
        for seat in seating.ready(look)
        if look.age_s(seat.since_ns) >= seating.retry_s(seat.falls)
    ]
    if not found or look.age_s(record.resized_ns) < grow_after_s(look):
        return []
    return found


def _note_wish(look: Look, head: str | None) -> Decision:
    record = look.record
    decision = look.wait(record.reason, record.message, 0.0)
    return replace(decision, record=replace(decision.record, growing=head))


def _is_last(record: Record, checkpoint: str) -> bool:
    """Whether nothing is left to train after a checkpoint."""
    split = names.split_checkpoint_name(checkpoint)
    total = record.plan.total_steps
    return split is not None and total is not None and split[0] >= total


def _tended(look: Look, seat: Seat) -> Seat:
    if seating.is_spent(look, seat):
        after = seating.fresh_seat(seat)
        because = _because(look, seat)
        count = seating.falls(look, seat)
        return replace(after, falls=count, since_ns=look.now_ns, because=because)
    if seat.launched_ns is None and seating.is_due(look, seat) and not _has_stray(look, seat):
        return replace(seat, launched_ns=look.now_ns)
    return seat


def _because(look: Look, seat: Seat) -> str:
    task = seating.standby_task(look, seat)
    if task is None:
        seen = "its task is gone" if seat.seen_alive else "its task never appeared"
        return seat.because if seat.refused else seen
    if task.is_alive:
        return "its task runs but does not get ready"
    return f"its task ended: {task.reason}" if task.reason else "its task ended"


def _has_stray(look: Look, seat: Seat) -> bool:
    """The old task of the slot still lives, and its host may still hear the stop."""
    is_held = any(task.slot == seat.slot for task in look.buckets.stray)
    plan = look.record.plan
    return is_held and look.age_s(seat.since_ns) < plan.isolation_s + plan.stop_grace_s


def _is_asked(seat: Seat, was: Seat) -> bool:
    return seat.launched_ns is not None and was.launched_ns is None


def _is_new(record: Record, seat: Seat) -> bool:
    return seat.launched_ns is not None and seat.launched_ns >= record.attempt_opened_ns


def _slots(slots: frozenset[int] | list[int]) -> str:
    words = ", ".join(map(str, sorted(slots)))
    return f"slot {words}" if len(slots) == 1 else f"slots {words}"
