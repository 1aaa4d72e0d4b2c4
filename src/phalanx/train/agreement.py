"""All ranks save at the same step, by construction.

At every step each rank puts three integers into an asynchronous max-reduce on a side group and
reads what the previous step's gave: the strongest *wish* of any rank, whether any rank is still
*busy* writing, and the longest any rank's save takes. All read the same numbers, so all decide
alike. A rank that was free a step ago is still free now, since a save only begins by agreement.

Wishes are ordered: a higher one wins. Numbers above `DUE` are departure notices, the earliest
deadline being the highest number.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, Protocol

NONE = 0
"""No wish."""
DUE = 1
"""A save is due by this rank's clock."""
ADVICE = 2
"""A notice without a deadline: save when it suits."""
_LATEST = 1 << 40
"""Milliseconds; a deadline is told as its distance below this number."""


class Word(NamedTuple):
    """What all ranks read at one step."""

    wish: int = NONE
    busy: bool = False
    cost_ms: int = 0
    """The longest that the last save of any rank took, copy and write."""


def wish_of(left_ms: int | None) -> int:
    """The wish of a notice with so many milliseconds left; None is advice."""
    return ADVICE if left_ms is None else _LATEST - min(max(0, left_ms), _LATEST - ADVICE - 1)


def left_ms_of(wish: int) -> int | None:
    """Milliseconds left by the most urgent notice; None when it has no deadline."""
    return None if wish <= ADVICE else _LATEST - wish


class Agreement(Protocol):
    """One exchange a step."""

    def heard(self) -> Word:
        """What the ranks together said."""
        ...

    def say(self, wish: int, busy: bool, cost_ms: int = 0) -> None:
        """This rank's part of the next answer."""
        ...

    def close(self) -> None:
        """Wait for what is under way; nothing is said any more."""
        ...


class Alone:
    """A single rank agrees with itself."""

    def __init__(self) -> None:
        self._word = Word()

    def heard(self) -> Word:
        """What was said last."""
        return self._word

    def say(self, wish: int, busy: bool, cost_ms: int = 0) -> None:
        """Remember it."""
        self._word = Word(wish, busy, cost_ms)

    def close(self) -> None:
        """Nothing is under way."""


class Mute:
    """Ranks without a process group: nobody wishes anything, saves are due by count only."""

    def heard(self) -> Word:
        """Nothing."""
        return Word()

    def say(self, wish: int, busy: bool, cost_ms: int = 0) -> None:
        """Nobody listens."""

    def close(self) -> None:
        """Nothing is under way."""


class SideGroup:
    """A gloo group of all ranks beside the script's own, so that neither disturbs the other."""

    def __init__(self) -> None:
        import torch
        import torch.distributed as dist

        self._reduce = dist.all_reduce
        self._max = dist.ReduceOp.MAX
        self._group = dist.new_group(backend="gloo")
        self._words = torch.zeros(3, dtype=torch.int64)
        self._work: Any = None

    def heard(self) -> Word:
        """Waits for the previous step's reduction: done long ago when ranks keep step."""
        if self._work is None:
            return Word()
        self._work.wait()
        self._work = None
        wish, busy, cost_ms = self._words.tolist()
        return Word(wish, bool(busy), cost_ms)

    def say(self, wish: int, busy: bool, cost_ms: int = 0) -> None:
        """Start this step's reduction."""
        self._words[0] = wish
        self._words[1] = int(busy)
        self._words[2] = cost_ms
        self._work = self._reduce(self._words, op=self._max, group=self._group, async_op=True)

    def close(self) -> None:
        """Wait for the last reduction, so that no peer loses its answer by our exit."""
        work, self._work = self._work, None
        if work is not None:
            try:
                work.wait()
            except RuntimeError:
                # A peer is gone or the script has ended its groups: nothing hangs on the answer.
                return


def open_agreement(world_size: int) -> Agreement:
    """What fits the process as it is now; all ranks call it at the same step."""
    if world_size == 1:
        return Alone()
    # A group can only exist where the script has imported this already.
    dist = sys.modules.get("torch.distributed")
    if dist is None or not dist.is_available() or not dist.is_initialized():
        return Mute()
    return SideGroup() if dist.get_world_size() == world_size else Mute()
