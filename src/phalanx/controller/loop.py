"""Ticks until the job is settled, woken by news instead of polling.

The loop holds nothing that the root does not: it may be killed, stopped or doubled at any point.
"""

from __future__ import annotations

import select
import sys
import time
from typing import TYPE_CHECKING

from phalanx.backends.base import Notifies
from phalanx.controller import tick
from phalanx.controller.beat import read_beat, write_beat
from phalanx.controller.expiry import Expiry
from phalanx.controller.ports import Ports
from phalanx.controller.pruning import Pruning
from phalanx.errors import BackendError, StoreError
from phalanx.state.record import Record
from phalanx.store.base import Watch

if TYPE_CHECKING:
    from phalanx.controller.telling import Teller
    from phalanx.controller.tick import Sight

BEAT_EVERY_S = 0.8
TELLING_S = 0.1
"""Between two looks at messages that are on their way."""
TELLING_MAX_S = 90.0
"""A controller stays no longer than this for messages alone; whoever looks next goes on."""
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
        self._expiry = Expiry(ports)
        self._teller: Teller | None = None
        self._settled_s: float | None = None
        """Since when messages are all that is left to do."""

    def drive(self) -> int:
        """Tick until the job is settled or somebody else drives it; the process's exit code."""
        failures = 0
        while True:
            try:
                if self._is_gone() or self._is_superseded():
                    self._finish_sending()
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
            if wait_s is None and not self._is_telling():
                return 0
            wait_s = TELLING_S if wait_s is None else wait_s
            if wait_s > 0:
                self._sleep(min(wait_s, BEAT_EVERY_S))

    def tick(self) -> float | None:
        """One whole pass. Seconds until the next; None when no controller is needed any more."""
        sight = tick.look(self.ports)
        if sight is None:
            say(f"{self.ports.job} is gone from the root")
            return None
        self._tell(sight)
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
            self._expiry.maybe(sight.record)
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

    def _tell(self, sight: Sight) -> None:
        """Hand over the messages that are owed; nothing here waits for a receiver."""
        record = sight.record
        if not record.plan.notify:
            return
        if self._teller is None:
            from phalanx.controller.telling import Teller  # urllib: only where it is needed

            self._teller = Teller(self.ports, record, say)
        has_world = sight.observed.world is not None
        self._teller.see(record, has_world=has_world, now_ns=sight.now_ns)

    def _is_telling(self) -> bool:
        """Whether the job is settled but some message has no outcome; not for ever."""
        if self._teller is None or self._teller.is_idle:
            return False
        self._settled_s = self._settled_s or time.monotonic()
        return time.monotonic() - self._settled_s < TELLING_MAX_S

    def _finish_sending(self) -> None:
        """What this process has claimed it sends, also when somebody else drives the job."""
        until_s = time.monotonic() + TELLING_MAX_S
        while self._teller is not None and self._teller.is_sending and time.monotonic() < until_s:
            time.sleep(TELLING_S)

    def _is_gone(self) -> bool:
        """A job that was removed takes no beat: there is nothing left to drive."""
        if self.ports.store.read(self.ports.keys.record) is not None:
            return False
        say(f"{self.ports.job} is gone from the root")
        return True

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
    found = [keys.record, keys.attempt(attempt), keys.members(attempt), keys.ends(attempt)]
    return [*found, keys.head] if record.plan.is_elastic else found


def say(text: str) -> None:
    """One line in the controller's log."""
    print(text, file=sys.stderr, flush=True)
