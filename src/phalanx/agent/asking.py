"""Ask the ranks of a slot for their stacks while they go on working.

The same signal as after a hang, but nothing is concluded from it and nobody is stopped. The file
that a rank writes to is not emptied: an agent that looks into a hang at this moment reads it too.
"""

from __future__ import annotations

import os
import time
from typing import Any

from phalanx.agent import processes, stacks
from phalanx.agent.seat import SeatPlace
from phalanx.names import Keys
from phalanx.state import codec, read
from phalanx.state.gang import Beat, World
from phalanx.state.record import Record
from phalanx.store.store import Store

WAIT_S = 5.0
"""For all ranks of the slot together; on an idle machine they answer in milliseconds."""
_LARGEST = 1 << 20
"""Bytes of old stacks that a rank's file may hold before it is emptied."""


class Asked:
    """One rank that was asked: where its answer will stand."""

    def __init__(self, rank: int, pid: int, folder: str) -> None:
        self.rank = rank
        self.pid = pid
        self.folder = folder
        self.state = _state_of(pid)
        self.since = stacks.size(folder)

    def ask(self) -> None:
        """Ask, if it can answer."""
        if self.state == "asked":
            if self.since > _LARGEST:
                stacks.forget(self.folder)
                self.since = 0
            stacks.ask(self.pid)

    def answer(self, deadline: float) -> dict[str, Any]:
        """What it said, at the latest when time is up."""
        text = ""
        if self.state == "asked":
            left_s = max(0.0, deadline - time.monotonic())
            text = stacks.read_stacks(self.folder, left_s, self.since)
            self.state = "told" if text else "silent"
        return {"rank": self.rank, "pid": self.pid, "state": self.state, "text": text}


def ask_ranks(place: SeatPlace, store: Store, record: Record) -> list[dict[str, Any]]:
    """`rank`, `pid`, `state` and `text` of every rank of the slot; [] while none runs.

    `state` is `told`, or why there is no text: `gone`, `stopped` (SIGSTOP), `deaf` (no Python that
    the warm parent forked) or `silent` (no answer in time).
    """
    keys = Keys(place.job)
    world = read.read_world(store, keys, record.attempt)
    pulse = store.pulse(keys.beat(record.attempt, place.slot, place.incarnation))
    if world is None or pulse is None or not world.has(place.slot, place.incarnation):
        return []
    pids = codec.loads(Beat, pulse[0]).rank_pids
    asked = [_asked(place, world, i, pid) for i, pid in enumerate(pids)]
    for one in asked:
        one.ask()
    deadline = time.monotonic() + WAIT_S
    return [one.answer(deadline) for one in asked]


def _asked(place: SeatPlace, world: World, local_rank: int, pid: int) -> Asked:
    """A pid that is no process of this slot's agent was taken by somebody else: not signalled."""
    agent = next(member.pid for member in world.members if member.slot == place.slot)
    folder = os.path.join(place.scratch, str(world.attempt), str(local_rank))
    one = Asked(world.first_rank(place.slot) + local_rank, pid, folder)
    if pid not in processes.descendants(agent):
        one.state = "gone"
    return one


def _state_of(pid: int) -> str:
    if stacks.is_stopped(pid):
        return "stopped"
    return "asked" if stacks.listens(pid) else "deaf"
