"""One rank's side of a save: copy while training waits, write while it goes on.

A rank of attempt a writes under names `<step>-<a>` and nothing else, each once. The part is
stated only after the shard is durable; the agents do the rest.
"""

from __future__ import annotations

import platform
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from phalanx.checkpoint import shard
from phalanx.checkpoint.hostcopy import Frozen, HostCopy
from phalanx.checkpoint.manifest import Part, Piece, ShardFile
from phalanx.errors import PhalanxError
from phalanx.frozen import frozen
from phalanx.names import Keys, checkpoint_name
from phalanx.state import codec
from phalanx.train.telling import AgentLine, say

if TYPE_CHECKING:
    from phalanx.clock import Clock
    from phalanx.store.store import Store
    from phalanx.train.environment import Surroundings


@frozen
class Outlet:
    """Where a rank writes and whom it tells."""

    store: Store
    keys: Keys
    line: AgentLine
    clock: Clock


class Saver:
    """Saves of one rank, one at a time. `problem` tells how the last one failed, else None."""

    def __init__(self, here: Surroundings, outlet: Outlet) -> None:
        self._here = here
        self._outlet = outlet
        self._copy = HostCopy()
        self._thread: threading.Thread | None = None
        self.problem: str | None = None
        self.when_written: Callable[[], None] = lambda: None
        """Called in the background when a write has ended, well or badly."""
        self.write_ns = 0
        """Time the last finished write took."""

    @property
    def busy(self) -> bool:
        """Whether a write is under way."""
        return self._thread is not None and self._thread.is_alive()

    def wait(self) -> None:
        """Return when no write is under way."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()
            self._thread = None

    def begin(self, step: int, state: Mapping[str, Any], layout: tuple[Piece, ...]) -> str:
        """Copy `state` and start to write it as checkpoint `step`; returns its name.

        Waits for the write before. Raises `StateUnsupported`.
        """
        self.wait()
        name = checkpoint_name(step, self._here.attempt)
        about = {"phalanx.checkpoint": name, "phalanx.rank": str(self._here.rank)}
        copied = self._copy.take(dict(state), about)
        self.problem = None
        # Not a daemon: the interpreter does not end before the write has.
        self._thread = threading.Thread(
            target=self._write, args=(name, step, copied, layout), name="phalanx-save"
        )
        self._thread.start()
        return name

    def _write(self, name: str, step: int, copied: Frozen, layout: tuple[Piece, ...]) -> None:
        started_ns = self._outlet.clock.monotonic_ns()
        try:
            self._publish(name, step, copied, layout)
        except PhalanxError as error:
            self.problem = error.line()
        except Exception as error:  # whatever it is, training goes on and the next save tries again
            self.problem = f"{type(error).__name__}: {error}"
        if self.problem is not None:
            say(f"rank {self._here.rank}: step {step} could not be saved: {self.problem}")
        self.write_ns = self._outlet.clock.monotonic_ns() - started_ns
        self.when_written()

    def _publish(self, name: str, step: int, copied: Frozen, layout: tuple[Piece, ...]) -> None:
        store, keys, rank = self._outlet.store, self._outlet.keys, self._here.rank
        key = keys.shard(name, rank)
        written = store.put_blob(key, shard.chunks(copied.header, copied.data))
        inside = key.removeprefix(f"{keys.checkpoint(name)}/")
        part = Part(
            rank=rank,
            name=name,
            attempt=self._here.attempt,
            step=step,
            world_size=self._here.world_size,
            shards=(ShardFile(inside, written.bytes, written.sha256),),
            layout=layout,
            framework=framework(),
        )
        if not store.create(keys.part(name, rank), codec.dumps(part)):
            say(f"rank {rank}: the part of {name} was already there; it is kept as it was")
        self._outlet.line.tell({"part": name, "rank": rank})


def framework() -> tuple[tuple[str, str], ...]:
    """What wrote a checkpoint: names and versions."""
    found = [("python", platform.python_version())]
    for name in ("torch", "numpy"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            found.append((name, str(version)))
    return tuple(found)
