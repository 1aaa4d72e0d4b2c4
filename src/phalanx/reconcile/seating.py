"""Which slots take part in the next attempt, and when a slot that was given up is tried again.

An elastic job has between `min` and `max` seats in the world; the others are parked. Who takes
part is fixed when an attempt opens, so that two agents never disagree about it. A parked slot
may get a new task at any time: nobody waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from phalanx.clock import SECOND_NS
from phalanx.reconcile.buckets import absence
from phalanx.reconcile.look import Look
from phalanx.state.observed import ObservedTask
from phalanx.state.record import Record, Seat
from phalanx.words import TaskState

RETRY_S = 15.0
"""Wait before a slot is tried again that fell out twice in a row; doubled each further time."""
RETRY_MAX_S = 900.0
STUCK_RETRY_S = 60.0
"""Longest wait while there is no world: then a slot that comes back is worth more than calm."""
STEADY_S = 300.0
"""A slot that took part this long, and four of its waits, is as good as new."""


@dataclass(frozen=True)
class Change:
    """What becomes of the seats when an attempt opens: slots by what happens to them."""

    renew: frozenset[int] = frozenset()
    """They get a new incarnation."""
    lost: frozenset[int] = frozenset()
    """Their tasks are gone: that counts as a fall."""
    park: frozenset[int] = frozenset()
    take_in: frozenset[int] = frozenset()


def retry_s(falls: int) -> float:
    """Seconds before a parked slot is tried again, or may take part again."""
    return min(RETRY_MAX_S, RETRY_S * 2.0 ** min(falls - 2, 10)) if falls > 1 else 0.0


def standby_task(look: Look, seat: Seat) -> ObservedTask | None:
    """The task of a parked seat, if the target knows it."""
    mine = [t for t in look.buckets.standby if t.slot == seat.slot]
    return mine[0] if mine else None


def is_ready(look: Look, seat: Seat) -> bool:
    """Whether a parked seat's agent runs, has joined the attempt and gives signs of life."""
    task = standby_task(look, seat)
    if task is None or task.state is not TaskState.RUNNING:
        return False
    who = (seat.slot, seat.incarnation)
    if who not in {(m.slot, m.incarnation) for m in look.observed.members}:
        return False
    ages = [s.age_ns for s in look.observed.beats if (s.beat.slot, s.beat.incarnation) == who]
    return bool(ages) and min(ages) <= look.timing.silent_s * SECOND_NS


def ready(look: Look) -> list[Seat]:
    """Parked seats that could take part at once, in the order of slots."""
    return [s for s in look.record.seats if s.parked and is_ready(look, s)]


def is_hidden(look: Look, seat: Seat) -> bool:
    """Whether a parked seat's launch was asked for and nothing is to be seen of it yet."""
    has_asked = seat.launched_ns is not None and not seat.seen_alive
    return has_asked and standby_task(look, seat) is None


def is_spent(look: Look, seat: Seat) -> bool:
    """Whether the present try of a parked seat has come to nothing."""
    if seat.launched_ns is None:
        return False
    task = standby_task(look, seat)
    if task is None:
        return absence(seat, look.now_ns, look.timing) == "vanished"
    if task.state is TaskState.STOPPED:
        return True
    began_ns = max(seat.launched_ns, seat.since_ns)
    is_late = look.age_s(began_ns) > look.record.plan.start_timeout_s
    return is_late and not is_ready(look, seat)


def is_due(look: Look, seat: Seat) -> bool:
    """Whether a parked seat without a task is tried again now."""
    wait_s = retry_s(seat.falls)
    if look.observed.world is None:
        wait_s = min(wait_s, STUCK_RETRY_S)
    return look.age_s(seat.since_ns) >= wait_s


def falls(look: Look, seat: Seat) -> int:
    """How often in a row the slot has fallen out, once it falls out now.

    The row ends when it was there for long and something was committed meanwhile.
    """
    head = look.observed.head
    is_newer = head is not None and head.checkpoint != look.record.head_at_open
    is_steady = look.age_s(seat.since_ns) > max(STEADY_S, 4 * retry_s(seat.falls))
    return 1 if is_steady and (is_newer or seat.parked) else seat.falls + 1


def on_loss(look: Look, lost: frozenset[int], because: str) -> tuple[Seat, ...]:
    """The seats of the attempt that follows a failure.

    A ready standby takes the place of a lost slot at once: the size stays. A slot that is lost
    again soon is given up at once, while enough others are left. All other lost slots get a new
    task and are waited for, at first.
    """
    record = look.record
    active = {seat.slot for seat in record.active}
    renew = lost | active if record.plan.restart_scope == "gang" else lost
    if not record.plan.is_elastic:
        return arranged(look, Change(renew), because)
    fresh = [seat.slot for seat in ready(look)][: len(lost & active)]
    # Those that fell before go first, then the highest.
    order = sorted(lost & active, key=lambda s: (record.seat(s).falls == 0, -s))
    park = set(order[: len(fresh)])
    left = len(active) - len(park) + len(fresh)
    for slot in order[len(fresh) :]:
        seat = record.seat(slot)
        if left > record.plan.fewest and falls(look, seat) > 1:
            park.add(slot)
            left -= 1
    change = Change(renew, lost, frozenset(park), frozenset(fresh))
    return arranged(look, change, because)


def arranged(look: Look, change: Change, because: str) -> tuple[Seat, ...]:
    """The seats after a change."""
    return tuple(_after(look, seat, change, because) for seat in look.record.seats)


def _after(look: Look, seat: Seat, change: Change, because: str) -> Seat:
    now_ns, slot = look.now_ns, seat.slot
    after = fresh_seat(seat) if slot in change.renew else seat
    if slot in change.park | change.lost:
        # Lost when this attempt opened, and not filled since: that is one fall, not two.
        is_same = slot not in change.lost and seat.since_ns >= look.record.attempt_opened_ns
        count = max(1, seat.falls) if is_same else falls(look, seat)
        after = replace(after, falls=count, since_ns=now_ns)
    if slot in change.park:
        return replace(after, parked=True, because=seat.because or because)
    if slot in change.take_in:
        return replace(after, parked=False, since_ns=now_ns, because="")
    return after


def fresh_seat(seat: Seat) -> Seat:
    """The seat for a new incarnation."""
    return Seat(
        seat.slot,
        seat.incarnation + 1,
        parked=seat.parked,
        falls=seat.falls,
        since_ns=seat.since_ns,
        because=seat.because if seat.parked else "",
    )


def sized(look: Look, before: Record, seats: tuple[Seat, ...]) -> int:
    """`resized_ns` after the seats have changed."""
    was, now = len(before.active), sum(not seat.parked for seat in seats)
    return before.resized_ns if was == now else look.now_ns
