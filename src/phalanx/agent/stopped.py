"""Processes that somebody stopped (SIGSTOP) and did not let go on: the kernel is witness enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

STOPPED_S = 10.0
"""A process that is stopped this long counts as hung, whatever its rank last announced."""


class StoppedWatch:
    """Remembers since when each process has been seen stopped."""

    def __init__(self, is_stopped: Callable[[int], bool]) -> None:
        self._is_stopped = is_stopped
        self._since: dict[int, float] = {}

    def look(self, now_s: float, pids: Iterable[int]) -> int | None:
        """A process that has been stopped for longer than `STOPPED_S`, or None."""
        stopped = [pid for pid in pids if pid and self._is_stopped(pid)]
        self._since = {pid: self._since.get(pid, now_s) for pid in stopped}
        for pid, since_s in self._since.items():
            if now_s - since_s > STOPPED_S:
                return pid
        return None

    def said(
        self,
        now_s: float,
        ranks: Mapping[int, int],
        below: Callable[[int], Sequence[int]] | None,
        stores: Iterable[int],
    ) -> str:
        """Who is stopped, in words; '' when nobody is. `ranks`: the rank of each process.

        `below` names what a rank has started, where that may be the real rank (a launcher's).
        """
        names = dict.fromkeys(stores, "the collective store")
        if below is not None:
            for rank in ranks.values():
                names |= dict.fromkeys(below(rank), f"a process below rank {rank}")
        names |= {pid: f"rank {rank}" for pid, rank in ranks.items()}
        pid = self.look(now_s, names)
        if pid is None:
            return ""
        return f"{names[pid]} (process {pid}) is stopped (SIGSTOP) and was not let go on"
