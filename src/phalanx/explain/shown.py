"""What a log shows, and which of it its ranks went on after."""

from __future__ import annotations

from dataclasses import dataclass, replace

from phalanx.explain.model import INFO, Words
from phalanx.explain.texts import SURVIVED, TRACE
from phalanx.verdict.ranks import SECONDARY
from phalanx.words import FailureClass

_FEW_STEPS = 5


@dataclass(frozen=True)
class Shown:
    """One line that shows something."""

    file: str
    line: int
    column: int
    words: Words
    failure: FailureClass | None
    said: str
    rank: str = ""
    """The rank that it tells of, where the log says so."""
    can_pass: bool = False
    """Whether a program tells it of itself, and may go on after it."""
    is_loud: bool = False
    """Whether no logger wrote it: mostly the last that a process says."""

    @property
    def key(self) -> tuple[str, str]:
        """What makes two lines tell the same."""
        return (self.words.slug, self.words.message)


def survived(shown: Shown) -> Shown:
    """The same as a remark: it ended nothing."""
    if shown.words is TRACE:
        return replace(shown, words=SURVIVED, failure=None)
    return remark(shown, ", and the program went on")


def remark(shown: Shown, because: str) -> Shown:
    """The same as no failure, with `because` after its message."""
    message = f"{shown.words.message}{because}"
    words = replace(shown.words, severity=INFO, message=message)
    return replace(shown, words=words, failure=None)


class Passed:
    """What a log has shown so far, and what its ranks went on after."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._open: dict[str, dict[tuple[str, str], Shown]] = {}
        self._kept: dict[tuple[str, str], Shown] = {}
        self._gone: list[tuple[Shown, int]] = []
        self._steps: dict[str, int] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether a line of progress would say anything."""
        return bool(self._open or self._gone)

    def add(self, shown: Shown) -> None:
        """One more line that shows something."""
        waits = shown.can_pass and shown.failure is not None
        group = self._open.setdefault(shown.rank, {}) if waits else self._kept
        group.setdefault(shown.key, shown)

    def go_on(self, rank: str, is_sure: bool = False, whole: bool = False) -> None:
        """A rank goes on; when the `whole` program ended well, lost connections were no failure."""
        steps = self._steps[rank] = self._steps.get(rank, 0) + 1
        self._let_go(list(self._open.pop(rank, {}).values()), steps, is_sure)
        if not whole or rank:
            return
        for other, group in list(self._open.items()):
            lost = [shown for shown in group.values() if shown.failure in SECONDARY]
            self._let_go(lost, 0, True)
            self._open[other] = {k: v for k, v in group.items() if v not in lost}

    def _let_go(self, shown: list[Shown], steps: int, is_sure: bool) -> None:
        for item in shown:
            remark = survived(item)
            if remark.key not in self._kept:
                self._kept[remark.key] = remark
            if item.is_loud and not is_sure:
                self._gone.append((item, steps))

    def settled(self, ended_badly: bool) -> list[Shown]:
        """All that was shown, in its order.

        Without ranks in the log, a few lines of progress may be another rank's. Where the log
        ends in lost connections, or says that something exited badly, the trace before them is
        what it led from.
        """
        waiting = [shown for group in self._open.values() for shown in group.values()]
        every = [*self._kept.values(), *waiting]
        causes = [shown for shown in every if shown.failure is not None]
        if all(s.failure in SECONDARY for s in causes) and (causes or ended_badly):
            every += [s for s, at in self._gone if self._steps.get(s.rank, 0) - at < _FEW_STEPS]
        return sorted(every, key=lambda shown: shown.line)
