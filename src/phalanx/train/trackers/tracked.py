"""A run to which can only be added: each step goes into it once.

What a rank logs is kept in a file of the job too. In the next attempt, steps that the run has got
already are dropped, so a step that is done again keeps the values it had first; steps that
survived but never reached the run (its process was killed before it wrote them) are added from
the file.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol

from phalanx.state.metrics import Values, series
from phalanx.train.metrics import MetricsFile
from phalanx.train.trackers.here import Here


class Sink(Protocol):
    """The library's side of one run."""

    def add(self, values: Mapping[str, Any], step: int) -> None:
        """Log values at a step."""
        ...

    def last(self, name: str) -> int:
        """The last step of a metric that the run had when this attempt began; -1 for none."""
        ...

    def close(self) -> None:
        """The run is over."""
        ...


class Journal:
    """What a rank gave to one tracker, over all attempts."""

    def __init__(self, here: Here, tracker: str, first: int) -> None:
        key = here.keys.tracked_file(tracker, here.rank.rank)
        self._path = f"{here.rank.root}/{key}"
        self._attempt = here.rank.attempt
        self._before = here.done + first - 1
        """Last step, as the script counts, that an earlier attempt may have done for good."""
        self._file = MetricsFile(self._path, self._attempt)
        self._file.resumed(self._before, time.time_ns())

    def survivors(self) -> list[tuple[int, dict[str, float]]]:
        """Steps of earlier attempts that are not done again, with their values."""
        if not os.path.exists(self._path):
            return []
        with open(self._path, encoding="utf-8", errors="replace") as file:
            found = series(file, {self._attempt: self._before})
        return [(p.step, _filled(p.values)) for p in found.points if p.attempt < self._attempt]

    def note(self, values: Mapping[str, Any], step: int) -> None:
        """Keep it, at once."""
        self._file.note(step, values, time.time_ns())
        self._file.flush()


def _filled(values: Values) -> dict[str, float]:
    return {name: math.nan if value is None else value for name, value in values.items()}


class Tracked:
    """One run of a tracker over all attempts of a job; a context manager.

    `run` is the library's own object, for everything but metrics of steps.
    """

    def __init__(self, run: Any, id: str, sink: Sink, journal: Journal | None) -> None:
        self.run = run
        self.id = id
        self._sink = sink
        self._journal = journal
        for step, values in journal.survivors() if journal else ():
            self._add(values, step)

    def log(self, values: Mapping[str, Any], step: int) -> None:
        """Log the values of a step, unless an earlier attempt has."""
        if self._journal is not None:
            self._journal.note(values, step)
        self._add(values, step)

    def finish(self) -> None:
        """The run is over; call it once training is."""
        self._sink.close()

    def _add(self, values: Mapping[str, Any], step: int) -> None:
        new = {name: value for name, value in values.items() if step > self._sink.last(name)}
        if new:
            self._sink.add(new, step)

    def __enter__(self) -> Tracked:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish()
