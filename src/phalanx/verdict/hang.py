"""Which rank made a gang hang? All stand still; the one that stopped first is to blame.

Evidence, strongest first: a process that is stopped; fewer finished steps than the others; standing
in its own code while the others wait in a collective; standing at another line than the others;
having stood still longest. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from phalanx.state.gang import End, RankEnd
from phalanx.state.record import Cause
from phalanx.words import FailureClass


class _Seen(NamedTuple):
    slot: int
    attempt: int
    rank: RankEnd


def hang_cause(ends: Sequence[End], silent_slots: Sequence[int] = ()) -> Cause | None:
    """The cause when an agent found a hang; None when none did.

    `silent_slots` wrote no ending: an agent that cannot even say how its ranks stood is frozen.
    """
    told = [e for e in sorted(ends, key=lambda e: e.slot) if e.failure is FailureClass.HANG]
    if not told:
        return None
    seen = [_Seen(e.slot, e.attempt, r) for e in ends for r in e.ranks]
    seen.sort(key=lambda s: s.rank.rank)
    if silent_slots and not any(s.rank.stuck == "stopped" for s in seen):
        slot = min(silent_slots)
        message = f"slot {slot} is frozen: its agent gives no sign while the others wait for it"
        return Cause(FailureClass.HANG, message, slot=slot, evidence=_evidence(told, seen))
    blamed, because = _blame(seen)
    if blamed is None:
        message = f"{told[0].message}; nothing tells which rank stopped first"
        return Cause(FailureClass.HANG, message, told[0].slot, None, (), _evidence(told, seen))
    message = f"rank {blamed.rank.rank} (slot {blamed.slot}) hangs: {because}"
    return Cause(
        FailureClass.HANG,
        message,
        slot=blamed.slot,
        rank=blamed.rank.rank,
        evidence=_evidence(told, seen),
    )


def _blame(seen: list[_Seen]) -> tuple[_Seen | None, str]:
    clues = (_stopped, _behind, _in_its_own_code, _elsewhere, _first_to_stand_still)
    for clue in clues:
        found = clue(seen)
        if found is not None:
            return found
    return None, ""


def _stopped(seen: list[_Seen]) -> tuple[_Seen, str] | None:
    stopped = [s for s in seen if s.rank.stuck == "stopped"]
    return (stopped[0], "its process is stopped (SIGSTOP)") if stopped else None


def _behind(seen: list[_Seen]) -> tuple[_Seen, str] | None:
    steps = [s.rank.step for s in seen]
    if not seen or min(steps) == max(steps):
        return None
    behind = min(seen, key=lambda s: s.rank.step)
    at = f" at {behind.rank.place}" if behind.rank.place else ""
    return behind, f"it finished step {behind.rank.step}, others step {max(steps)}{at}"


def _in_its_own_code(seen: list[_Seen]) -> tuple[_Seen, str] | None:
    own = [s for s in seen if s.rank.stuck == "code"]
    if not own or all(s.rank.stuck != "collective" for s in seen):
        return None
    return own[0], f"it is at {own[0].rank.place or 'its own code'}, the others wait for it"


def _elsewhere(seen: list[_Seen]) -> tuple[_Seen, str] | None:
    """The only rank at a line of its own, when most others share one."""
    places = Counter(s.rank.place for s in seen if s.rank.place)
    if len(seen) < 3 or len(places) < 2:
        return None
    lonely = [s for s in seen if places[s.rank.place] == 1]
    if len(lonely) != 1:
        return None
    return lonely[0], f"it is at {lonely[0].rank.place}, the others elsewhere"


def _first_to_stand_still(seen: list[_Seen]) -> tuple[_Seen, str] | None:
    moving = [s for s in seen if s.rank.still_ns]
    if len(moving) > 1:
        first = max(moving, key=lambda s: s.rank.still_ns)
        return first, f"it stood still first ({first.rank.still_ns / 1e9:.1f} s)"
    return (seen[0], "it stood still") if len(seen) == 1 else None


def _evidence(told: Sequence[End], seen: list[_Seen]) -> tuple[tuple[str, str], ...]:
    said = [(f"ends/{e.slot}.{e.incarnation}", e.message) for e in told]
    stood = [
        (
            f"evidence/stacks-{s.attempt}-{s.rank.rank:05d}",
            f"rank {s.rank.rank}: step {s.rank.step}, {s.rank.stuck or 'unknown'}"
            + (f" at {s.rank.place}" if s.rank.place else ""),
        )
        for s in seen
    ]
    return tuple(said + stood)
