"""What verbs that act have in common while they wait: say what for, and answer Ctrl-C.

A request in the record goes on without whoever wrote it; only who has read that knows it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from phalanx.app.jobs import Job
from phalanx.app.look import look
from phalanx.app.messages import seen_messages
from phalanx.app.quiet import is_over
from phalanx.cli.interrupts import Interrupts
from phalanx.cli.options import note

INTERRUPTED = 130
PATIENCE_S = 1.0
"""A job that rests or has ended is left by its controller within that, unless it sends."""


class Waiting:
    """One verb at work on a job. Ctrl-C is answered between two looks."""

    def __init__(self, root: str | None, start: str) -> None:
        """`start` says how things stand before anything was asked."""
        self.where = f" --root {root}" if root else ""
        """To be added to commands that are named to people."""
        self.state = start
        """How things stand, for whoever interrupts now."""
        self._interrupts = Interrupts()
        self._said: set[str] = set()
        self._over_s: float | None = None
        self._is_told = False

    def run(self, work: Callable[[], int]) -> int:
        """The exit code of `work`; 130 when it was interrupted, after saying how things stand."""
        self._interrupts.hold()
        try:
            return work()
        except KeyboardInterrupt:
            note(f"phalanx: interrupted: {self.state}")
            return INTERRUPTED
        finally:
            self._interrupts.release()

    def check(self) -> None:
        """Raises `KeyboardInterrupt` when there was one."""
        self._interrupts.check()

    def say(self, text: str) -> None:
        """One line on standard error, once."""
        if text not in self._said:
            self._said.add(text)
            note(f"phalanx: {text}")

    def see(self, job: Job) -> None:
        """Take in one look at the job: tell what is waited for, once for each kind of wait."""
        self.check()
        if job.record.phase.is_terminal or (is_over(job) and job.record.pause is not None):
            self._see_last(job)
            return
        self.say_waits(job)

    def say_waits(self, job: Job) -> None:
        """What agents wait for beside their ranks, once however far it has come."""
        for waits in look(job).waits:
            kind = waits.partition(":")[0]
            if kind not in self._said:
                self._said.add(kind)
                note(f"phalanx: {job.id}: {waits}")

    def _see_last(self, job: Job) -> None:
        """The job is over or rests, and its controller lives."""
        phase = job.record.phase.value
        self.state = f"{job.id} is {phase} already; its controller ends by itself"
        self._over_s = self._over_s or time.monotonic()
        if self._is_told or time.monotonic() - self._over_s < PATIENCE_S:
            return
        self._is_told = True
        is_sending = any(message.sent is None for message in seen_messages(job))
        what = "its messages are sent" if is_sending else "its controller has ended"
        self.say(f"{job.id} is {phase}; waiting until {what}")
