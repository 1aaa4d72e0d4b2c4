"""Follow a job in the terminal: events as plain lines, progress in one line, Ctrl-C twice."""

from __future__ import annotations

import time

from phalanx.app import api
from phalanx.app.act import follow, request_stop
from phalanx.app.events import events
from phalanx.app.jobs import Job, load
from phalanx.app.logs import LogReader
from phalanx.app.look import Look, look
from phalanx.app.revive import Ensure
from phalanx.cli import view
from phalanx.cli.interrupts import Interrupts
from phalanx.cli.logs import text
from phalanx.cli.options import note, out
from phalanx.cli.progress import Progress

SECOND_CTRL_C_S = 3.0
INTERRUPTED = 130


class Follower:
    """One terminal that watches one job. It drives nothing: the job goes on without it."""

    def __init__(
        self, job: Job, ensure: Ensure, interrupts: Interrupts, *, with_logs: bool, quiet: bool
    ) -> None:
        self.job = job
        self.ensure = ensure
        self.interrupts = interrupts
        self.quiet = quiet
        self.progress = Progress()
        self.logs = LogReader(f"{job.root.folder}/{job.keys.logs}") if with_logs else None
        self._last: Look | None = None

    def run(self, root: str | None) -> int:
        """Follow to the end; the exit code of `phalanx run`."""
        try:
            self.job = follow(self.job, self._see, ensure=self.ensure)
        except KeyboardInterrupt:
            return self._interrupted(root)
        finally:
            self.progress.clear()
        self._print_logs(last=True)
        answer = api.status_of(self.job)
        note(view.ending(answer)) if self.quiet else out(view.ending(answer))
        return 0 if answer["phase"] == "Succeeded" else 1

    def _see(self, job: Job) -> None:
        self.interrupts.check()
        seen = look(job)
        lines = events(self._last, seen)
        if lines:
            self.progress.clear()
            for line in lines:
                note(line)
        self._last = seen
        self._print_logs(last=False)
        self.progress.show(seen)

    def _print_logs(self, *, last: bool) -> None:
        if self.logs is None:
            return
        for line in self.logs.read(last=last):
            self.progress.clear()
            note(text(line)) if self.quiet else out(text(line))

    def _interrupted(self, root: str | None) -> int:
        """Say how to go on; a second Ctrl-C soon after means: save and stop."""
        self._say_how(root)
        deadline = time.monotonic() + SECOND_CTRL_C_S
        while self.interrupts.count < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        self.interrupts.is_answering = True
        if self.interrupts.count >= 2:
            request_stop(load(self.job.root, self.job.id), save=True, reason="Ctrl-C twice")
            note(f"phalanx: asked {self.job.id} to save and stop")
        return INTERRUPTED

    def _say_how(self, root: str | None) -> None:
        self.progress.clear()
        job = self.job.id
        where = f" --root {root}" if root else ""
        note(
            f"phalanx: {job} goes on; watch it with `phalanx status {job}{where}`, stop it with"
            f" `phalanx stop {job}{where}` (or Ctrl-C again now: save and stop)"
        )
