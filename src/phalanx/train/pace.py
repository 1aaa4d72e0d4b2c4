"""How long a rank's own work takes in a step, without its waiting for the others.

Ranks that exchange gradients all need the same time for a step: who is fast waits. So only what a
rank does by itself is counted: from the end of one report to its last gradient, and from the
optimizer's start to the next report. Between the two lies the exchange. A script whose model or
optimizer is not known here counts by the whole step.

Steps come in blocks of fifty, the same for all ranks; a block is told by its median, so that one
slow step is no slow rank.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from typing import Any

from phalanx.clock import Clock
from phalanx.state import codec
from phalanx.state.gang import Pace
from phalanx.train.values import unwrapped

BLOCK = 50
"""Steps of a block."""
FEWEST = 40
"""Steps that must have been measured for a block to count."""
WARM_UP = 3
"""First steps of an attempt that count for nothing."""


class PaceMeter:
    """Measures one rank; `text` is its newest `Pace` as JSON, "" before the first block."""

    def __init__(self, rank: int, clock: Clock) -> None:
        self.pace = Pace(rank)
        self._clock = clock
        self.text = ""
        self._mark_ns = 0
        self._gradient_ns = 0
        self._optimizer_ns = 0
        self._has_gradients = False
        self._left = WARM_UP
        self._block = -1
        self._own: list[int] = []

    def watch(self, state: Mapping[str, Any]) -> None:
        """Have the modules and optimizers of a state say when they are at work."""
        torch = sys.modules.get("torch")
        if torch is None:
            return
        for value in map(unwrapped, state.values()):
            # What is like a module or an optimizer but not quite is left alone.
            with contextlib.suppress(RuntimeError, AttributeError, TypeError):
                if isinstance(value, torch.nn.Module):
                    # Its gradient is the last to be ready: the backward pass ends there.
                    first = next((p for p in value.parameters() if p.requires_grad), None)
                    if first is not None:
                        first.register_post_accumulate_grad_hook(self._gradient)
                elif isinstance(value, torch.optim.Optimizer):
                    value.register_step_pre_hook(self._optimizer)

    def begin(self, now_ns: int) -> None:
        """The rank's own work goes on from here."""
        self._mark_ns = now_ns

    def stepped(self, done: int, now_ns: int) -> None:
        """A step is done; `done` counts those that are."""
        own_ns = self._own_ns(now_ns)
        block = (done - 1) // BLOCK
        if block != self._block:
            self._close()
            self._block = block
        if own_ns is not None and self._left:
            self._left -= 1
        elif own_ns is not None:
            self._own.append(own_ns)
        if done % BLOCK == 0:
            self._close()

    def _own_ns(self, now_ns: int) -> int | None:
        """Own work of the step that ends now; None when it was not measured."""
        if self._gradient_ns < self._mark_ns:
            return None if self._has_gradients else now_ns - self._mark_ns
        if not self._has_gradients:
            self._has_gradients = True
            self._own = []
        before_ns = self._gradient_ns - self._mark_ns
        is_known = self._optimizer_ns >= self._gradient_ns
        return before_ns + (now_ns - self._optimizer_ns if is_known else 0)

    def _close(self) -> None:
        """The block is over; one of which too little was measured is left out."""
        own, self._own = self._own, []
        if len(own) < FEWEST:
            return
        own_ns, steps, pace = median(own), len(own), self.pace
        self.pace = Pace(
            rank=pace.rank,
            steps=steps,
            own_ns=own_ns,
            spread_ns=median([abs(value - own_ns) for value in own]),
            all_steps=pace.all_steps + steps,
            all_ns=pace.all_ns + steps * own_ns,
        )
        self.text = codec.dumps(self.pace).decode()

    def _gradient(self, _: object) -> None:
        self._gradient_ns = self._clock.monotonic_ns()

    def _optimizer(self, *_: object) -> None:
        if self._optimizer_ns <= self._gradient_ns:
            self._optimizer_ns = self._clock.monotonic_ns()


def median(values: list[int]) -> int:
    """The middle one; the lower of two."""
    return sorted(values)[(len(values) - 1) // 2]
