"""The progress line of something that moves many bytes."""

from __future__ import annotations

import os
import sys

from phalanx.cli import view

_BAR = 24
_LEAST = 64 << 20
"""Less is done before anybody looks."""


class BytesBar:
    """One line on standard error, rewritten in place; silent when that is no terminal."""

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._is_shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._is_there = False

    def show(self, done: int, total: int) -> None:
        """So many bytes of so many."""
        if self._is_shown and total >= _LEAST:
            full = _BAR * done // total
            bar = f"{'━' * full}{'─' * (_BAR - full)}"
            words = f"{self._verb} {bar} {view.size(done)} of {view.size(total)}"
            sys.stderr.write(f"\r\x1b[K{words}")
            sys.stderr.flush()
            self._is_there = True

    def clear(self) -> None:
        """Make room for a plain line."""
        if self._is_there:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_there = False
