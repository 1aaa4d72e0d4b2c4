"""Virtual time: an event heap, actors that are resumed from it, seeded chance. Nothing sleeps."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

from phalanx.clock import SECOND_NS

FOREVER = math.inf
EPOCH_NS = 1_700_000_000 * SECOND_NS
"""Store time at the start of every simulation."""


def stream(seed: object, *names: object) -> random.Random:
    """A source of chance of its own for each purpose: removing one fault leaves the others alone.

    Seeding by text is independent of PYTHONHASHSEED.
    """
    return random.Random("/".join(map(str, (seed, *names))))


class Loop:
    """The event heap. Events at one moment happen in the order in which they were planned."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.steps = 0
        self._seq = 0
        self._heap: list[tuple[int, int, Callable[[Any], None], Any]] = []

    @property
    def now_s(self) -> float:
        """Seconds since the start."""
        return self.now_ns / SECOND_NS

    def after(self, seconds: float, call: Callable[[Any], None], argument: Any = None) -> None:
        """Plan a call; its one argument travels along."""
        self._seq += 1
        when_ns = self.now_ns + max(0, int(seconds * SECOND_NS))
        heapq.heappush(self._heap, (when_ns, self._seq, call, argument))

    def run(self, until_s: float, is_over: Callable[[], bool]) -> None:
        """Play events until one of: none is left, the time has come, it is over."""
        heap, until_ns = self._heap, int(until_s * SECOND_NS)
        while heap and not is_over():
            if heap[0][0] > until_ns:
                self.now_ns = until_ns
                return
            self.now_ns, _, call, argument = heapq.heappop(heap)
            self.steps += 1
            call(argument)


Steps = Iterator[float]
"""What an actor's life yields: seconds until its next step."""


class Actor:
    """Something that lives in steps, and can be frozen or killed between any two of them.

    `life` yields seconds. `yield self.idle(s)` may be cut short by `wake`; other pauses may not.
    """

    def __init__(self, loop: Loop, name: str) -> None:
        self.loop = loop
        self.name = name
        self.is_alive = True
        self.frozen_until_ns = 0
        self._ticket = 0
        self._due_ns = 0
        self._is_idle = False
        self._is_woken = False
        self._life: Steps = self.life()

    def life(self) -> Steps:
        """The steps of this actor's life."""
        raise RuntimeError("every actor has a life of its own")

    def begin(self, delay_s: float) -> None:
        """Plan the first step."""
        self._plan(delay_s)

    @property
    def is_frozen(self) -> bool:
        """Whether it is stopped right now."""
        return self.frozen_until_ns > self.loop.now_ns

    def freeze(self, seconds: float) -> None:
        """No step for so long, wherever it is; then it goes on as if nothing had been."""
        until_ns = self.loop.now_ns + int(seconds * SECOND_NS)
        self.frozen_until_ns = max(self.frozen_until_ns, until_ns)

    def kill(self) -> None:
        """No step any more."""
        self.is_alive = False

    def idle(self, seconds: float) -> float:
        """Wait for news, at most so long; news since the last look end it at once."""
        if self._is_woken:
            return 0.0
        self._is_idle = True
        return seconds

    def looked(self) -> None:
        """News up to now are known."""
        self._is_woken = False

    def wake(self, delay_s: float) -> None:
        """News arrive after so long."""
        if not self.is_alive:
            return
        if not self._is_idle:
            self._is_woken = True
        elif self.loop.now_ns + int(delay_s * SECOND_NS) < self._due_ns:
            self._plan(delay_s)

    def _plan(self, delay_s: float) -> None:
        self._ticket += 1
        if delay_s == FOREVER:
            self._due_ns = 1 << 62
            return
        self._due_ns = self.loop.now_ns + int(delay_s * SECOND_NS)
        self.loop.after(delay_s, self._step, self._ticket)

    def _step(self, ticket: int) -> None:
        if ticket != self._ticket or not self.is_alive:
            return
        if self.is_frozen:
            self._plan((self.frozen_until_ns - self.loop.now_ns) / SECOND_NS)
            return
        self._is_idle = False
        delay_s = next(self._life, None)
        if delay_s is None:
            self.is_alive = False
        elif self.is_alive:
            self._plan(delay_s)
