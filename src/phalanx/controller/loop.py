"""Ticks until the job is settled, woken by news instead of polling.

The loop holds nothing that the root does not: it may be killed, stopped or doubled at any point.
"""

from __future__ import annotations

import select
import sys

from phalanx.backends.base import Notifies
from phalanx.controller import tick
from phalanx.controller.beat import read_beat, write_beat
from phalanx.controller.ports import Ports
from phalanx.controller.pruning import Pruning
from phalanx.errors import BackendError, StoreError
from phalanx.state.record import Record
from phalanx.store.base import Watch

BEAT_EVERY_S = 0.8
PATIENCE = 40
"""Store failures in a row before a controller gives up; anybody may start another."""


class Driver:
    """One controller of one job."""

    def __init__(self, ports: Ports, writer: str, watch: Watch | None) -> None:
        self.ports = ports
        self.writer = writer
        self.watch = watch
        self._covered: int | None = None
        self._pruning = Pruning(ports)

    def drive(self) -> int:
        """Tick until the job is settled or somebody else drives it; the process's exit code."""
        failures = 0
        while True:
            try:
                if self._is_superseded():
                    return 0
                write_beat(self.ports.store, self.ports.keys, self.writer)
                wait_s = self.tick()
                failures = 0
            except (StoreError, BackendError) as error:
                failures += 1
                say(f"{type(error).__name__}: {error.line()}")
                if failures >= PATIENCE:
                    return error.exit_code
                wait_s = min(5.0, 0.1 * 2.0 ** min(failures, 6))
            if wait_s is None:
                return 0
            if wait_s > 0:
                self._sleep(min(wait_s, BEAT_EVERY_S))

    def tick(self) -> float | None:
        """One whole pass. Seconds until the next; None when no controller is needed any more."""
        sight = tick.look(self.ports)
        if sight is None:
            say(f"{self.ports.job} is gone from the root")
            return None
        if tick.is_settled(sight.record):
            return None
        if self._covered != sight.record.attempt:
            # What happened between the look and the watch would be missed: look once more.
            if self.watch is not None:
                self.watch.cover(folders(self.ports, sight.record))
            self._covered = sight.record.attempt
            return 0.0
        if not sight.record.phase.is_terminal or sight.record.sweeps:
            self._pruning.maybe(sight.record)
        decision = tick.decide(sight, self.ports)
        if not tick.save(self.ports, sight, decision):
            return 0.0
        for event in decision.events:
            say(f"{event.reason}: {event.message}")
        for action in decision.actions:
            answer = tick.act(self.ports, decision.record, action)
            if answer is not None:
                say(answer)
        return decision.recheck_after_s

    def _is_superseded(self) -> bool:
        other = read_beat(self.ports.store, self.ports.keys)
        if other is None or other.writer == self.writer or not other.is_fresh:
            return False
        say(f"another controller (pid {other.pid}) drives {self.ports.job}")
        return True

    def _sleep(self, seconds: float) -> None:
        poll = select.poll()
        if self.watch is not None:
            poll.register(self.watch.fileno(), select.POLLIN)
        if isinstance(self.ports.backend, Notifies):
            for fd in self.ports.backend.wake_fds(self.ports.job):
                poll.register(fd, select.POLLIN)
        poll.poll(max(1, int(seconds * 1000)))
        if self.watch is not None:
            self.watch.drain()


def run(ports: Ports, writer: str) -> int:
    """Drive the job to its end. Returns the exit code of the controller process."""
    watch = ports.store.watch()
    try:
        return Driver(ports, writer, watch).drive()
    finally:
        if watch is not None:
            watch.close()


def folders(ports: Ports, record: Record) -> list[str]:
    """Where news comes from: the record, and the current attempt's agreement and endings."""
    keys, attempt = ports.keys, record.attempt
    return [keys.record, keys.attempt(attempt), keys.members(attempt), keys.ends(attempt)]


def say(text: str) -> None:
    """One line in the controller's log."""
    print(text, file=sys.stderr, flush=True)
