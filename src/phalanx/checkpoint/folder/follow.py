"""Follow a folder over one attempt: look, judge, and commit what is complete.

A commit holds the newest numbered checkpoint, all rolling ones, and the small files and links
beside them that say which is the newest. Older checkpoints stay in the folder and are remembered.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from phalanx.checkpoint.commit import CommitState, Committer, commit
from phalanx.checkpoint.folder.judge import Judge
from phalanx.checkpoint.folder.keep import Changed, Copier
from phalanx.checkpoint.folder.readiness import Found, Readiness, Writers
from phalanx.checkpoint.folder.record import FolderIndex, Known, known_of
from phalanx.checkpoint.folder.scan import Entry, Look, look_at
from phalanx.checkpoint.folder.units import Unit, links_in, pointers_in, units_in
from phalanx.frozen import frozen, replace
from phalanx.names import Keys, checkpoint_name

if TYPE_CHECKING:
    from phalanx.store.store import Store


STEPS_END = 10**10
"""Checkpoints' names have room for steps below it."""


@frozen
class Sight:
    """What one look came to."""

    committed: str = ""
    """Name of the checkpoint that was committed now; '' for none."""
    step: int = 0
    refused: str = ""
    """Why the root will never take it from this attempt."""
    changed: bool = False
    """Whether anything differs from the look before: somebody writes."""
    is_torn: bool = False
    """Whether a file changed while it was copied, so that nothing was committed."""
    waiting: tuple[str, ...] = ()
    """Checkpoints that are not complete, and why."""


class Follower:
    """Follows one folder on behalf of one attempt."""

    def __init__(
        self, store: Store, keys: Keys, folder: str, who: Committer, ranks: int | None
    ) -> None:
        """`who` commits; `ranks` write together, None when nobody knows how many."""
        self._store = store
        self._keys = keys
        self._folder = folder
        self._who = who
        self._judge = Judge(folder, ranks)
        self._copier = Copier(store, keys, folder)
        self.tally = self._copier.tally
        """How far the commit is that is being made."""
        self.readiness = Readiness()
        self._shipped: frozenset[Known] = frozenset()
        self._accounted: set[tuple[Entry, ...]] = set()
        self._in_commit: frozenset[str] = frozenset()
        self._step = 0
        self._is_first = True
        self._before = Look()

    def begin(self, step: int, shipped: Collection[Known]) -> None:
        """The folder is at the checkpoint of `step` that was restored: all in it is known."""
        self._shipped = frozenset(shipped)
        self._step = step
        self._before = look_at(self._folder)
        units = self._units(self._before)
        self._accounted = {unit.entries for unit in units}
        self._in_commit = frozenset(unit.name for unit in units if unit.number is None)

    def look(self, now_ns: int, writers: Writers) -> Sight:
        """Look once; commit what is complete and new.

        Raises `StoreError` when the root refuses, `OSError` when the folder may not be read.
        """
        look, before = look_at(self._folder), self._before
        self._before = look
        units = self._units(look)
        self.readiness.see(units, now_ns)
        found = [Found(unit, self._judge.judge(unit)) for unit in units]
        self._judge.forget(look.files)
        waiting = tuple(f"{f.unit.name}: {f.finding.problem}" for f in found if f.finding.problem)
        sight = Sight(changed=look != before, waiting=waiting)
        ready: list[Found] = []
        unready: list[Found] = []
        for one in found:
            is_ready = self.readiness.is_ready(one, writers, now_ns)
            is_old = one.unit.entries in self._accounted
            (ready if is_old or is_ready else unready).append(one)
        if self._is_under_way(unready, writers, now_ns):
            return sight
        complete = [one.unit for one in ready]
        chosen = self._choose(complete)
        if not chosen or self._is_early(chosen, unready, writers, now_ns):
            return sight
        return self._commit(chosen, complete, look, sight)

    def _units(self, look: Look) -> tuple[Unit, ...]:
        return units_in(look, self._own(look))

    def _own(self, look: Look) -> frozenset[Entry]:
        """Files that lay there before the job began."""
        return frozenset(entry for entry in look.files if known_of(entry) in self._shipped)

    def _is_under_way(self, unready: Sequence[Found], writers: Writers, now_ns: int) -> bool:
        """Whether something that goes with the others is being written, so that they wait for it.

        Once nobody writes any more it is left out, unless the last commit held it.
        """
        rolling = [one for one in unready if one.unit.number is None]
        if writers.are_alive:
            return any(self.readiness.may_follow(one, now_ns) for one in rolling)
        return any(one.unit.name in self._in_commit for one in rolling)

    def _is_early(
        self, chosen: Sequence[Unit], unready: Sequence[Found], writers: Writers, now_ns: int
    ) -> bool:
        """Whether only rolling ones are new, and the numbered one of the same save is not ready."""
        new = [unit for unit in chosen if unit.entries not in self._accounted]
        return (
            writers.are_alive
            and all(unit.number is None for unit in new)
            and any(
                one.unit.number is not None and self.readiness.may_follow(one, now_ns)
                for one in unready
            )
        )

    def _choose(self, ready: Sequence[Unit]) -> tuple[Unit, ...]:
        """The checkpoints of one commit; none unless one of them is new."""
        rolling = [unit for unit in ready if unit.number is None]
        numbered = [unit for unit in ready if unit.number is not None]
        numbered.sort(key=lambda unit: (unit.newest_ns, unit.number or 0))
        chosen = (*numbered[-1:], *rolling)
        return chosen if any(unit.entries not in self._accounted for unit in chosen) else ()

    def _commit(
        self, chosen: Sequence[Unit], ready: Sequence[Unit], look: Look, sight: Sight
    ) -> Sight:
        step = self._next_step(chosen)
        name = checkpoint_name(step, self._who.attempt)
        pointers = pointers_in(look, self._units(look), self._own(look))
        entries = [entry for unit in chosen for entry in unit.entries]
        older = [unit for unit in ready if unit not in chosen]
        try:
            self._copier.put(name, entries, pointers, _index(chosen, older, look))
        except Changed:
            return replace(sight, is_torn=True)
        outcome = commit(self._store, self._keys, self._who, name)
        self._step, self._is_first = step, False
        self._accounted = {unit.entries for unit in ready}
        if outcome.state is not CommitState.COMMITTED:
            return replace(sight, refused=f"{name}: {outcome.reason}")
        self._in_commit = frozenset(unit.name for unit in chosen if unit.number is None)
        self.readiness.committed(chosen)
        return replace(sight, committed=name, step=step)

    def _next_step(self, chosen: Sequence[Unit]) -> int:
        """The step in the newest name; the next number where there is none or it goes back."""
        given = [unit.number for unit in chosen if unit.number is not None]
        # A date or a time in milliseconds orders checkpoints and is no step.
        numbers = [number for number in given if number < STEPS_END]
        if numbers and (self._is_first or numbers[0] > self._step):
            return numbers[0]
        return self._step + 1


def _index(chosen: Sequence[Unit], older: Sequence[Unit], look: Look) -> FolderIndex:
    """The folder at this commit, but for the files that are copied."""
    return FolderIndex(
        kind=chosen[0].kind,
        newest=chosen[0].name,
        links=tuple((link.name, link.target) for link in links_in(look)),
        known=tuple(known_of(entry) for unit in older for entry in unit.entries),
    )
