"""What must be on disk before a save begins: a step that a checkpoint holds is done for good."""

from __future__ import annotations

from collections.abc import Callable

from phalanx.train.telling import say

_flushes: list[Callable[[], object]] = []
_failed: list[Callable[[], object]] = []


def before_saves(flush: Callable[[], object]) -> None:
    """Have `flush` called before every save of this process, and at its end."""
    _flushes.append(flush)


def flush_all() -> None:
    """Call them all; one that fails is told once and does not stop the save."""
    for flush in _flushes:
        try:
            flush()
        except Exception as error:  # a tracker's: whatever it is, training goes on
            if flush not in _failed:
                _failed.append(flush)
                say(f"a tracker did not write: {type(error).__name__}: {error}")
