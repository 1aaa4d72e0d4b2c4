"""Ctrl-C while there is a job to speak of: counted, and answered between two looks.

An exception at any bytecode could fall between the record and the controller that drives it.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

IMPATIENT = 3
"""So many Ctrl-C end this process at once, whatever it waits for."""


class Interrupts:
    """Counts SIGINT from `hold` to `release`; before and after it raises `KeyboardInterrupt`."""

    def __init__(self) -> None:
        self.count = 0
        self.is_answering = False
        """While a request is on its way, no Ctrl-C takes it back."""
        self._is_held = False

    def hold(self) -> None:
        """Count from now on. A shell's background job, which ignores Ctrl-C, goes on to do so."""
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._is_held = True

    def release(self) -> None:
        """Raise again from now on."""
        if self._is_held:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._is_held = False

    def check(self) -> None:
        """Raises `KeyboardInterrupt` when there was one."""
        if self.count:
            raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self.count >= IMPATIENT and not self.is_answering:
            raise KeyboardInterrupt
