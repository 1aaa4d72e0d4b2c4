"""The controllers' beat: who drives a job, and is it alive? A hint; the record is the truth.

Many controllers are harmless, so nothing here excludes; it only saves work.
"""

from __future__ import annotations

import json
import os

from phalanx.frozen import frozen
from phalanx.names import Keys
from phalanx.store.store import Store

STALE_AFTER_S = 2.0
"""A beat older than this means that somebody should start another controller."""


@frozen
class ControllerBeat:
    """Who wrote the beat, and how old it is by the store's clock."""

    pid: int
    host: str
    writer: str
    age_s: float

    @property
    def is_fresh(self) -> bool:
        """Whether the controller can be believed to be at work."""
        return self.age_s <= STALE_AFTER_S and not self._is_known_dead()

    def _is_known_dead(self) -> bool:
        """On one host the process table is proof."""
        if self.host != os.uname().nodename:
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return False


def write_beat(store: Store, keys: Keys, writer: str) -> None:
    """Say that this process drives the job."""
    words = {"pid": os.getpid(), "host": os.uname().nodename, "writer": writer}
    store.beat(keys.controller, json.dumps(words).encode())


def read_beat(store: Store, keys: Keys) -> ControllerBeat | None:
    """The newest beat, or None when no controller ever ran."""
    found = store.pulse(keys.controller)
    if found is None:
        return None
    data, age_ns = found
    try:
        words = json.loads(data)
        return ControllerBeat(
            int(words["pid"]), str(words["host"]), str(words["writer"]), age_ns / 1e9
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
