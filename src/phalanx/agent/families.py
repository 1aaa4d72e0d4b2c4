"""Which processes belong to which rank of a slot, and the end of the one that uses too much."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from phalanx.agent import processes
from phalanx.agent.memory import MemoryWatch
from phalanx.agent.ranks import RankSet

REFRESH_S = 2.0
"""Between two walks down the process tree: data loaders come and go."""
MIB = 1 << 20


class Families:
    """The ranks of a slot with all that they started, watched over all attempts of one task."""

    def __init__(self, limit_mib: int | None, nodes: int) -> None:
        """`limit_mib`: what the job file allows each node, None when it does not say."""
        self.watch = MemoryWatch(None if limit_mib is None else limit_mib * MIB, nodes)
        self._families: dict[int, list[int]] = {}
        self._others: list[int] = []
        self._of: RankSet | None = None
        self._walked_s = 0.0

    def look(self, ranks: RankSet) -> float | None:
        """Look when it is time, and end the rank that has to go; seconds until the next look.

        None when there are no ranks to look at.
        """
        if not ranks.ranks:
            return None
        now_s = time.monotonic()
        if self.watch.due_in(now_s) <= 0:
            self._look(now_s, ranks)
        return self.watch.due_in(now_s)

    def below(self, rank: int) -> Sequence[int]:
        """Processes that a rank has started, as seen a moment ago."""
        return self._families.get(rank, [])[1:]

    def _look(self, now_s: float, ranks: RankSet) -> None:
        if self._of is not ranks or now_s - self._walked_s >= REFRESH_S:
            self._walk(ranks)
            self._of, self._walked_s = ranks, now_s
        overrun = self.watch.look(now_s, self._families, self._others)
        ranks.kills.note()
        for one in ranks.ranks:
            if overrun is not None and one.rank == overrun.key and not one.is_gone:
                ranks.overran(one, overrun.why, processes.descendants(one.pid))

    def _walk(self, ranks: RankSet) -> None:
        alive = [one for one in ranks.ranks if one.end is None and not one.is_gone]
        self._families = {one.rank: [one.pid, *processes.descendants(one.pid)] for one in alive}
        mine = {pid for family in self._families.values() for pid in family}
        self._others = [pid for pid in (os.getpid(), *processes.descendants()) if pid not in mine]
