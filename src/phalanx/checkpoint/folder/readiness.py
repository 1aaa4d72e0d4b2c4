"""When may a checkpoint be committed? Pure: it is told the looks and the time.

One that its structure proves complete: once nothing changed for a moment. Another one needs its
writer for a witness: it went on to the next checkpoint, it ended well, it wrote every file that
the last complete one of that shape had, or it left the files alone for a long time.
"""

from __future__ import annotations

from collections.abc import Sequence

from phalanx.checkpoint.folder.judge import Finding
from phalanx.checkpoint.folder.scan import Entry
from phalanx.checkpoint.folder.units import Unit
from phalanx.clock import SECOND_NS
from phalanx.frozen import frozen

SETTLE_S = 0.3
"""Without a change for so long, a checkpoint's files are read. Longer than the steps of a file
system's clock, so that whatever is written later has another time."""
QUIET_S = 30.0
"""Without a change for so long, files that nothing proves complete count as complete."""


@frozen
class Writers:
    """How those who write are: at work, or ended (`ended_well`: every rank by itself, with 0)."""

    are_alive: bool = True
    ended_well: bool = False


@frozen
class Found:
    """One checkpoint as it was found in a look."""

    unit: Unit
    finding: Finding


class Readiness:
    """Remembers, over the looks of one attempt, when each checkpoint changed and how."""

    def __init__(self, settle_s: float = SETTLE_S, quiet_s: float = QUIET_S) -> None:
        self._settle_ns = int(settle_s * SECOND_NS)
        self._quiet_ns = int(quiet_s * SECOND_NS)
        self._shapes: set[tuple[str, ...]] = set()
        self._orders: dict[str, tuple[str, ...]] = {}
        """In which order a rolling checkpoint's files are written."""
        self._since: dict[str, tuple[tuple[Entry, ...], int]] = {}
        self._changes: dict[str, int] = {}
        """How often each file of a rolling checkpoint changed since the last commit."""
        self._last: dict[str, Entry] = {}
        self._begun: dict[str, tuple[tuple[int, int | None], ...]] = {}
        """By folder: when its last two numbered ones were begun, and their numbers."""

    def begin(self) -> None:
        """A new attempt: what was seen before may have been put back or removed since."""
        self._since, self._changes, self._last = {}, {}, {}

    def see(self, units: Sequence[Unit], now_ns: int) -> None:
        """Take in one look."""
        seen = {unit.name: unit.entries for unit in units}
        self._since = {
            name: self._since[name] if self._is_same(name, entries) else (entries, now_ns)
            for name, entries in seen.items()
        }
        self._begun = _begun_last(units)
        for unit in units:
            for entry in unit.entries if unit.number is None else ():
                if self._last.get(entry.name) != entry:
                    self._changes[entry.name] = self._changes.get(entry.name, 0) + 1
                    self._last[entry.name] = entry

    def _is_same(self, name: str, entries: tuple[Entry, ...]) -> bool:
        return name in self._since and self._since[name][0] == entries

    def is_ready(self, found: Found, writers: Writers, now_ns: int) -> bool:
        """Whether a checkpoint of the look that was taken in last is complete."""
        unit, finding = found.unit, found.finding
        if finding.problem:
            return False
        quiet_ns = now_ns - self._since[unit.name][1]
        if quiet_ns < (self._settle_ns if writers.are_alive else self._settle_ns // 6):
            return False
        if finding.is_proven or writers.ended_well or self._has_moved_on(unit):
            return True
        if finding.is_legible and self._fits(unit):
            return True
        return writers.are_alive and quiet_ns >= self._quiet_ns

    def _has_moved_on(self, unit: Unit) -> bool:
        """Whether a later one was begun beside it, as its writer does once it has finished."""
        return unit.number is not None and any(
            number != unit.number and begun_ns > unit.newest_ns
            for begun_ns, number in self._begun.get(unit.parent, ())
        )

    def may_follow(self, found: Found, now_ns: int) -> bool:
        """Whether a checkpoint that is not ready may be soon: its files tell where they end, and
        changed not long ago.
        """
        quiet_ns = now_ns - self._since[found.unit.name][1]
        return found.finding.is_legible and quiet_ns < self._quiet_ns

    def _fits(self, unit: Unit) -> bool:
        """Whether every file is there, and new, that a complete one of its writer had."""
        if unit.shape not in self._shapes:
            return False
        if unit.number is not None:
            return True
        # Rewritten over and over: all files equally often and in the usual order, but for those
        # left alone by a writer that rewrote others twice meanwhile.
        counts = {entry.name: self._changes.get(entry.name, 0) for entry in unit.entries}
        changed = {count for count in counts.values() if count}
        if len(changed) != 1 or (0 in counts.values() and max(changed) < 2):
            return False
        # Two with the same time have no order: one may be of the next save already.
        times = [entry.mtime_ns for entry in unit.entries if counts[entry.name]]
        if len(set(times)) < len(times):
            return False
        usual = [name for name in self._orders.get(unit.name, ()) if counts.get(name)]
        return [name for name in _in_order(unit) if counts[name]] == usual

    def committed(self, units: Sequence[Unit]) -> None:
        """These were committed: their shapes are those of complete checkpoints."""
        self._shapes |= {unit.shape for unit in units}
        for unit in units:
            self._orders.setdefault(unit.name, _in_order(unit))
        self._changes = {}


def _in_order(unit: Unit) -> tuple[str, ...]:
    """Its files by the time of their last change."""
    ordered = sorted(unit.entries, key=lambda entry: (entry.mtime_ns, entry.name))
    return tuple(entry.name for entry in ordered)


def _begun_last(units: Sequence[Unit]) -> dict[str, tuple[tuple[int, int | None], ...]]:
    """By folder, of its numbered checkpoints the latest begin and the latest of another number."""
    begun: dict[str, list[tuple[int, int | None]]] = {}
    for unit in units:
        if unit.number is not None and unit.entries:
            first_ns = min(entry.mtime_ns for entry in unit.entries)
            begun.setdefault(unit.parent, []).append((first_ns, unit.number))
    found = {}
    for folder, times in begun.items():
        last = max(times, key=lambda one: one[0])
        others = [one for one in times if one[1] != last[1]]
        found[folder] = (last, *([max(others, key=lambda one: one[0])] if others else []))
    return found
