"""A job's checkpoints for tests: written by the real saver, committed by the real commit."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from phalanx.checkpoint.commit import Commit, Committer, commit
from phalanx.checkpoint.manifest import PER_RANK, Manifest, Piece
from phalanx.checkpoint.reading import load_manifest
from phalanx.clock import SystemClock
from phalanx.names import Keys, checkpoint_name
from phalanx.state import codec
from phalanx.state.gang import Head
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id
from phalanx.train.environment import Surroundings
from phalanx.train.saving import Outlet, Saver
from phalanx.train.telling import AgentLine
from tests.support.stores import LossyWithLineage

JOB = "job-1"


class Saves:
    """One root with one job, and what ranks and agents do to it."""

    def __init__(self, folder: Path) -> None:
        self.root = str(folder / "root")
        self.store = Store(FilesObjects.open(self.root, make=True), writer_id())
        self.keys = Keys(JOB)

    def head(self) -> Head | None:
        found = self.store.read(self.keys.head)
        return codec.loads(Head, found.data) if found else None

    def seal(self, attempt: int, checkpoint: str | None = None) -> None:
        """HEAD is of `attempt` from now on; it keeps its checkpoint unless another is given."""
        found = self.store.read(self.keys.head)
        kept = codec.loads(Head, found.data).checkpoint if found else None
        body = codec.dumps(Head(attempt, checkpoint or kept))
        assert self.store.swap(self.keys.head, body, found.version if found else None)

    def write(
        self,
        step: int,
        attempt: int,
        rank: int = 0,
        world: int = 1,
        state: Mapping[str, Any] | None = None,
    ) -> str:
        """One rank's shard and part; returns the checkpoint's name."""
        saver = self.saver(attempt, rank, world)
        content = state if state is not None else {"step": step, "rank": rank}
        saver.begin(step, content, tuple(Piece(name, PER_RANK) for name in content))
        saver.wait()
        assert saver.problem is None
        return checkpoint_name(step, attempt)

    def saver(self, attempt: int, rank: int, world: int) -> Saver:
        here = Surroundings(JOB, attempt, rank, world, self.root)
        return Saver(here, Outlet(self.store, self.keys, AgentLine(""), SystemClock()))

    def commit(self, name: str, attempt: int, world: int = 1) -> Commit:
        return commit(self.store, self.keys, Committer(attempt, world, "c0de"), name)

    def committed(self, step: int, attempt: int = 0) -> str:
        """A committed checkpoint of one rank; the attempt is sealed when it is not yet."""
        head = self.head()
        if head is None or head.attempt < attempt:
            self.seal(attempt)
        name = self.write(step, attempt)
        self.commit(name, attempt)
        return name

    def manifest(self, name: str) -> Manifest:
        return load_manifest(self.store, self.keys.checkpoint(name), name)

    def path(self, name: str, inside: str) -> Path:
        return Path(self.root, self.keys.checkpoint(name), inside)


class AgentDouble:
    """Hears the datagrams of ranks and commits what is whole, as an agent does."""

    def __init__(self, saves: Saves, attempt: int, world: int = 1) -> None:
        self.messages: list[dict[str, Any]] = []
        self._saves = saves
        self._who = Committer(attempt, world)
        self.path = str(Path(saves.root).parent / f"agent-{attempt}")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.path)
        self._thread = threading.Thread(target=self._listen)

    def _listen(self) -> None:
        while message := json.loads(self._socket.recv(8192)):
            self.messages.append(message)
            if "part" in message:
                commit(self._saves.store, self._saves.keys, self._who, message["part"])

    def __enter__(self) -> AgentDouble:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.sendto(b"{}", self.path)
        self._thread.join()
        self._socket.close()
        os.unlink(self.path)


def environment(saves: Saves, attempt: int = 0, **more: str) -> dict[str, str]:
    """What an agent tells a rank."""
    head = saves.head()
    return {
        "RANK": "0",
        "WORLD_SIZE": "1",
        "PHALANX_JOB": JOB,
        "PHALANX_ROOT": saves.root,
        "PHALANX_ATTEMPT": str(attempt),
        "PHALANX_RESUME": (head.checkpoint if head else None) or "",
        "PHALANX_RANK_DIR": str(Path(saves.root).parent / f"rank-{more.get('RANK', '0')}"),
        "PHALANX_AGENT_SOCKET": str(Path(saves.root).parent / f"agent-{attempt}"),
        **more,
    }


class LossyRoot(LossyWithLineage):
    """A root whose conditional writes lose answers, and that has a clock."""

    def beat(self, key: str, data: bytes) -> None:
        self.objects.beat(key, data)

    def pulse(self, key: str) -> tuple[bytes, int] | None:
        return self.objects.pulse(key)

    def now_ns(self) -> int:
        return self.objects.now_ns()
